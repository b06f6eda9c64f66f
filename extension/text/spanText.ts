import { lastStep, stepAt } from '../protocol/requests/stepTimes';
import type { StepTimes } from '../protocol/requests/timelineRequests';
import { formatCount, formatDuration, type Translate } from './format';

/** `steps 300–340`, `step 7`, or `12.30 s – 15.00 s`: a span (ns), from right after the end of the step before. */
export function spanText(span: { fromNs: number; toNs: number }, steps: StepTimes | null, t: Translate): string {
  if (!steps) return `${formatDuration(span.fromNs)} – ${formatDuration(span.toNs)}`;
  const [first, last] = [span.fromNs + 1, span.toNs].map(timeNs => Math.min(stepAt(steps, timeNs), lastStep(steps)));
  return first! >= last!
    ? t('step {0}', formatCount(last!))
    : t('steps {0}–{1}', formatCount(first!), formatCount(last!));
}
