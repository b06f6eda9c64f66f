import { t } from '@vscode/l10n';
import { formatCount, formatDuration } from '../../text/format';
import { spanText } from '../../text/spanText';
import { untilOf, type Moment } from '../../protocol/requests/moment';
import { lastStep, recordedEnd, stepAt } from '../../protocol/requests/stepTimes';
import type { TraceSource } from '../../protocol/trace';
import { JUST_AFTER_NS } from './ending';
import { timelineSteps } from './timelineSteps';

/** The most that a series of steps has (`LedgerSeriesQuery.points`). */
const MOST_POINTS = 2_048;

/** Words for a moment that a page shows, beside figures: `at the end of step 30`, `in step 30, at 3.42 s`, `still live at the end, allocated in steps 50–159`; null: it is now. */
export function momentWords(source: TraceSource, moment: Moment): string | null {
  const untilNs = untilOf(moment);
  const when = untilNs === null ? (source.info().live ? null : t('at the end')) : timeWords(source, moment, untilNs);
  if (moment.kind !== 'born') return when;
  const born = spanText(moment, timelineSteps(source, MOST_POINTS).axis, t);
  return when === null ? t('still live, allocated in {0}', born) : t('still live {0}, allocated in {1}', when, born);
}

function timeWords(source: TraceSource, moment: Moment, timeNs: number): string {
  const { axis } = timelineSteps(source, MOST_POINTS);
  // Just behind the end of a step, that step has ended, and of the next one there is nothing yet.
  const ran = axis === null ? 0 : stepAt(axis, timeNs - JUST_AFTER_NS);
  const step = axis === null || ran > lastStep(axis) ? null : ran;
  const number = formatCount(step ?? 0);
  if (moment.kind === 'at' && moment.peak === true)
    return step === null ? t('at the peak') : t('at the peak in step {0}', number);
  if (axis === null || step === null) return t('at {0}', formatDuration(timeNs));
  const isEnd = Math.abs((recordedEnd(axis, step, true) ?? Infinity) - timeNs) <= JUST_AFTER_NS;
  return isEnd ? t('at the end of step {0}', number) : t('in step {0}, at {1}', number, formatDuration(timeNs));
}
