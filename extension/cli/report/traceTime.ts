import { peakMoment } from '../../analysis/report/ending';
import { formatCount, formatDuration, formatPlural } from '../../protocol/format';
import { marksOf } from '../../protocol/marks';
import type { TraceSource } from '../../protocol/trace';
import type { TraceTime } from '../arguments/moments';

/** The most that a series of steps has (`LedgerSeriesQuery.points`). */
const MOST_POINTS = 2_048;

/** Nanoseconds of the session; the error is one sentence. A step stands for its end. */
export function resolveTraceTime(time: TraceTime, source: TraceSource): number | { error: string } {
  const { durationNs } = source.info();
  if (time === 'peak') return peakMoment(source) ?? { error: 'Nothing was allocated in this trace: it has no peak.' };
  if ('percent' in time) return Math.round((durationNs * time.percent) / 100);
  if ('step' in time) return stepEnd(time.step, source);
  if ('mark' in time) return markTime(time.mark, source);
  const ns = Math.round(time.seconds * 1e9);
  if (ns <= durationNs) return ns;
  return { error: `The trace lasts ${formatDuration(durationNs)}: ${formatDuration(ns)} is after its end.` };
}

/** `the end of step 31 (1.09 s)`, `1.09 s`: the moment as it was named, and when that is. */
export function timeText(time: TraceTime, ns: number): string {
  const at = formatDuration(ns);
  if (time === 'peak') return `the peak (${at})`;
  if ('step' in time) return `the end of step ${formatCount(time.step)} (${at})`;
  if ('mark' in time) return `"${time.mark}" (${at})`;
  return 'percent' in time ? `${time.percent} % (${at})` : at;
}

/** Of several marks of that name the newest. */
function markTime(name: string, source: TraceSource): number | { error: string } {
  const marks = marksOf(source.info().session);
  const found = marks.filter(mark => mark.name === name).at(-1);
  if (found !== undefined) return found.timeNs;
  const names = marks.map(mark => `"${mark.name}"`).join(', ');
  return { error: `The trace has no mark "${name}"${names === '' ? '' : `; it has ${names}`}.` };
}

/** Of the process with most steps. */
function stepEnd(step: number, source: TraceSource): number | { error: string } {
  const info = source.info();
  const [most] = [...info.steps].sort((a, b) => b.count - a.count);
  if (most === undefined || most.count === 0)
    return { error: 'No step has ended in this trace: name a time, such as 12.5s or 90%.' };
  if (step > most.count)
    return { error: `The trace has ${formatPlural(most.count, 'step')}: step ${step} is not among them.` };
  const device = info.totals.find(total => total.process === most.process && total.device >= 0)?.device ?? 0;
  const { first, last, endNs } = source.ledgerSeries({ process: most.process, device, points: MOST_POINTS });
  const at = last.findIndex(end => end >= step);
  if (last[at] === step) return endNs[at] ?? 0;
  return {
    error: `The trace keeps steps ${first[at]} to ${last[at]} as one: name step:${last[at]}, or a time.`,
  };
}
