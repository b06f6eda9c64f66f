import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { MemorySnapshot, SnapshotSite, TraceSource } from '../../../protocol/trace';
import { THRESHOLDS as T } from '../../series/thresholds';
import { inSentence, siteText } from '../../sites/site';
import { isBeforeBackward } from './oomAdvice';

/** Fewer times as large may be another length. */
const LEAST_TIMES = 2;

/**
 * The input of the step that runs is so many times as large as usual, and what a line of the forward pass made of it as well; null: it is not,
 * or nothing shows it.
 */
export function grownBatch({ step, sites }: MemorySnapshot, source: TraceSource): string | null {
  if (step <= T.few) return null;
  const forward = sites.filter(({ site }) => isBeforeBackward(source.site(site)));
  const isInput = ({ liveBytes, oldestStep, stepAllocatedBytes, activationBytes }: SnapshotSite): boolean =>
    oldestStep === step && liveBytes === stepAllocatedBytes && activationBytes === 0;
  const inputs = forward.filter(one => isInput(one) && timesUsual(one) >= LEAST_TIMES);
  const [input] = inputs.toSorted((a, b) => b.liveBytes - a.liveBytes);
  if (input === undefined) return null;
  const times = timesUsual(input);
  if (!forward.some(one => !isInput(one) && Math.abs(timesUsual(one) / times - 1) < T.little)) return null;
  const [now, usual] = [formatBytes(input.stepAllocatedBytes), formatBytes(input.usualAllocatedBytes)];
  const [line, count] = [
    inSentence(siteText(source.site(input.site))),
    times < 10 ? String(Math.round(10 * times) / 10) : formatCount(times),
  ];
  return t('The batch at {0} is {1} times its usual size ({2} instead of {3})', line, count, now, usual);
}

function timesUsual({ stepAllocatedBytes, usualAllocatedBytes }: SnapshotSite): number {
  return usualAllocatedBytes === 0 ? 0 : stepAllocatedBytes / usualAllocatedBytes;
}
