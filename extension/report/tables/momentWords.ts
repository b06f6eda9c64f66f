import { t } from '@vscode/l10n';
import { formatCount, formatDuration } from '../../text/format';
import { untilOf, type Moment } from '../../protocol/requests/moment';
import { endOfStep, lastStep, stepAt } from '../../protocol/requests/stepTimes';
import type { TraceSource } from '../../protocol/trace';
import { JUST_AFTER_NS } from './ending';
import { timelineSteps } from './timelineSteps';

/** The most that a series of steps has (`LedgerSeriesQuery.points`). */
const MOST_POINTS = 2_048;

/** Words for a moment that a page shows, beside figures: `at the end of step 30`, `in step 30, at 3.42 s`; null: it is now. */
export function momentWords(source: TraceSource, moment: Moment): string | null {
  const untilNs = untilOf(moment);
  const when = untilNs === null ? (source.info().live ? null : t('at the end')) : timeWords(source, moment, untilNs);
  if (moment.kind !== 'born') return when;
  const [from, to] = [moment.fromNs, moment.toNs].map(formatDuration);
  const born = t('allocated between {0} and {1}', from!, to!);
  return when === null ? born : `${born}, ${when}`;
}

function timeWords(source: TraceSource, moment: Moment, timeNs: number): string {
  const { axis } = timelineSteps(source, MOST_POINTS);
  const step = axis === null || stepAt(axis, timeNs) > lastStep(axis) ? null : stepAt(axis, timeNs);
  const number = formatCount(step ?? 0);
  if (moment.kind === 'at' && moment.peak === true)
    return step === null ? t('at the peak') : t('at the peak in step {0}', number);
  if (axis === null || step === null) return t('at {0}', formatDuration(timeNs));
  const isEnd = Math.abs((endOfStep(axis, step) ?? Infinity) - timeNs) <= JUST_AFTER_NS;
  return isEnd ? t('at the end of step {0}', number) : t('in step {0}, at {1}', number, formatDuration(timeNs));
}
