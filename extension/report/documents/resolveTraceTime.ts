import { JUST_AFTER_NS, peakMoment } from '../tables/ending';
import { noFailureText } from './oomReport';
import { numberOrNull } from '../../analysis/series/statistics';
import { formatCount, formatDuration, formatPlural } from '../../text/format';
import { marksOf } from '../../protocol/marks';
import type { LedgerSeries, ProcessSteps, TraceSource } from '../../protocol/trace';
import type { TraceTime } from '../../protocol/traceTime';

/** The most that a series of steps has (`LedgerSeriesQuery.points`). */
const MOST_POINTS = 2_048;

/** A moment of a trace: nanoseconds of the session, and what it is called, `the end of step 31 (1.09 s)`. */
export interface NamedMoment {
  ns: number;
  text: string;
  /** It is near the requested one, which the trace does not keep. */
  near: boolean;
}
type Resolved = NamedMoment | { error: string };

/** The moment that is meant; the error is one sentence. A step stands for its end. */
export function resolveTraceTime(time: TraceTime, source: TraceSource): Resolved {
  const { durationNs } = source.info();
  if (time === 'peak') {
    const ns = peakMoment(source);
    return ns === null ? { error: 'Nothing was allocated in this trace, so it has no peak.' } : named(ns, 'the peak');
  }
  if (time === 'oom') {
    const failure = source.info().outOfMemory.at(-1);
    return failure ? named(failure.timeNs, 'the last failed allocation') : { error: noFailureText(source.info()) };
  }
  if ('percent' in time) return named(Math.round((durationNs * time.percent) / 100), `${time.percent}%`);
  if ('step' in time) return stepEnd(time.step, source);
  if ('peakOf' in time) return stepPeak(time.peakOf, source);
  if ('mark' in time) return markTime(time.mark, source);
  const ns = Math.round(time.seconds * 1e9);
  if (ns <= durationNs) return { ns, text: formatDuration(ns), near: false };
  return { error: `${formatDuration(ns)} is after the end of the trace, which lasts ${formatDuration(durationNs)}.` };
}

function named(ns: number, name: string, near = false): NamedMoment {
  return { ns, text: `${name} (${formatDuration(ns)})`, near };
}

/** Of several marks of that name the newest. */
function markTime(name: string, source: TraceSource): Resolved {
  const marks = marksOf(source.info());
  const found = marks.filter(mark => mark.name === name).at(-1);
  if (found !== undefined) return named(found.timeNs, `"${name}"`);
  const names = marks.map(mark => `"${mark.name}"`).join(', ');
  return { error: `The trace has no marker "${name}"${names === '' ? '' : `; it has ${names}`}.` };
}

/** Of steps that are kept as one the nearest end. */
function stepEnd(step: number, source: TraceSource): Resolved {
  const most = mostStepped(step, source);
  if ('error' in most) return most;
  const { last, endNs } = seriesOf(most, source);
  const after = last.findIndex(end => end >= step);
  const distance = (at: number): number => Math.abs((last[at] ?? Infinity) - step);
  const at = distance(after - 1) < distance(after) ? after - 1 : after;
  const kept = last[at] ?? step;
  const name = `the end of step ${formatCount(kept)}`;
  if (kept === step) return named(endNs[at] ?? 0, name);
  return named(endNs[at] ?? 0, `${name}, the nearest recorded one to step ${formatCount(step)}`, true);
}

/** Of steps that are kept as one the highest. */
function stepPeak(step: number, source: TraceSource): Resolved {
  const most = mostStepped(step, source);
  if ('error' in most) return most;
  const { first, last, endNs, tensorMaxNs } = seriesOf(most, source);
  const at = last.findIndex(end => end >= step);
  const ns = (numberOrNull(tensorMaxNs[at]) ?? endNs[at - 1] ?? 0) + JUST_AFTER_NS;
  if (first[at] === last[at]) return named(ns, `the peak of step ${formatCount(step)}`);
  const steps = `${formatCount(first[at]!)} to ${formatCount(last[at]!)}`;
  return named(ns, `the peak of steps ${steps}, which the trace stores together`, true);
}

/** The process with most steps. */
function mostStepped(step: number, source: TraceSource): ProcessSteps | { error: string } {
  const [most] = [...source.info().steps].sort((a, b) => b.count - a.count);
  if (most === undefined || most.count === 0)
    return { error: 'No step has ended in this trace: name a time, such as 12.5s or 90%.' };
  if (step <= most.count) return most;
  return { error: `The trace has ${formatPlural(most.count, 'step')}: step ${step} is not among them.` };
}

/** Of the device on which that process had most. */
function seriesOf({ process }: ProcessSteps, source: TraceSource): LedgerSeries {
  const [most] = source
    .info()
    .totals.filter(total => total.process === process && total.device >= 0)
    .sort((a, b) => b.peakBytes - a.peakBytes);
  return source.ledgerSeries({ process, device: most?.device ?? 0, points: MOST_POINTS });
}
