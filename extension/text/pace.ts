import { formatBytes, formatCount, type Translate } from './format';
import type { Finding } from '../protocol/verdicts';

/** Steps after which it does not matter when memory is full. */
const FAR = 1_000_000;

/** What grows from the first steps on began with the warm-up: in which of these steps, differs from run to run. */
const WARM_UP_STEPS = 3;

/** Whether it is sure in which step something began to grow. */
export function isSinceSure(sinceStep: number): boolean {
  return sinceStep > WARM_UP_STEPS;
}

/** How fast a finding's memory grows: `+51 MiB per step`, `full after 412 more steps (7 minutes)`; empty if nothing grows. */
export function paceOf({ bytesPerStep, fullInSteps, fullInSeconds }: Finding, t: Translate): string[] {
  if (bytesPerStep <= 0) return [];
  const rate = t('+{0} per step', formatBytes(bytesPerStep));
  if (fullInSteps === null || fullInSteps > FAR) return [rate];
  const steps =
    fullInSteps === 1 ? t('full after 1 more step') : t('full after {0} more steps', formatCount(fullInSteps));
  const time = timeUntilFull(fullInSeconds, t);
  return [rate, time === null ? steps : t('{0} ({1})', steps, time)];
}

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** `40 minutes`; null where that is not known, or less than a minute. */
export function timeUntilFull(seconds: number | null, t: Translate): string | null {
  if (seconds === null || seconds < MINUTE) return null;
  const count = (unit: number): string => formatCount(Math.round(seconds / unit));
  if (seconds < 2 * MINUTE) return t('a minute');
  if (seconds < 2 * HOUR) return t('{0} minutes', count(MINUTE));
  if (seconds < 2 * DAY) return t('{0} hours', count(HOUR));
  return seconds < 365 * DAY ? t('{0} days', count(DAY)) : t('more than a year');
}
