import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { MemorySnapshot, Site, SiteSeriesQuery, SnapshotSite, TraceSource } from '../../../protocol/trace';
import { THRESHOLDS as T } from '../../series/thresholds';
import { inSentence, siteText } from '../../sites/site';

/** Fewer times as large may be another length. */
const LEAST_TIMES = 2;
const FEWEST_POINTS = 16;

export const isBeforeBackward = (site: Site | null): boolean => site?.pass !== 'backward' && site?.pass !== 'optimizer';

/**
 * The input of the step that runs is so many times as large as any before, and what the forward pass has made of it up to now is more than
 * usual as well, in words without a full stop; null: it is not, or nothing shows it.
 */
export function grownBatch({ step, sites }: MemorySnapshot, process: number, source: TraceSource): string | null {
  if (step <= T.few) return null;
  const forward = sites.filter(one => isBeforeBackward(source.site(one.site)) && isMore(one));
  const [input] = forward.filter(one => isInput(one, step)).toSorted((a, b) => b.liveBytes - a.liveBytes);
  if (input === undefined || forward.every(one => isInput(one, step))) return null;
  const bytes = input.liveBytes / input.liveCount;
  // A line that runs in some steps alone had blocks as large before.
  const before = largestBefore(input.site, step, process, source);
  const times = before === 0 ? 0 : bytes / before;
  if (times < LEAST_TIMES) return null;
  const timesText = times < 10 ? String(Math.round(10 * times) / 10) : formatCount(times);
  const line = inSentence(siteText(source.site(input.site)));
  // prettier-ignore
  return t('The batch at {0} is {1} times as large as any before it ({2} instead of at most {3})', line, timesText, formatBytes(bytes), formatBytes(before));
}

const isMore = ({ stepAllocatedBytes, usualAllocatedBytes }: SnapshotSite): boolean =>
  usualAllocatedBytes > 0 && stepAllocatedBytes >= LEAST_TIMES * usualAllocatedBytes;

/** No operation of the model made it. */
const isInput = ({ liveBytes, oldestStep, stepAllocatedBytes, activationBytes }: SnapshotSite, step: number): boolean =>
  oldestStep === step && liveBytes === stepAllocatedBytes && activationBytes === 0;

function largestBefore(site: number, step: number, process: number, source: TraceSource): number {
  const query: SiteSeriesQuery = { process, layer: 'tensor', sites: [site], from: 0, to: 1, points: FEWEST_POINTS };
  const { last, stepLargestBytes } = source.siteSeries(query);
  return Math.max(0, ...stepLargestBytes.filter((_, i) => (last[i] ?? 0) < step));
}
