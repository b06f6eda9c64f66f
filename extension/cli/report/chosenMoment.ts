import { verdictsOf } from '../../analysis/findings/verdictCache';
import { peakPlace } from '../../report/tables/nextPeak';
import { explainPeak, type PeakParts } from '../../report/tables/peak';
import { resolveTraceTime, type NamedMoment } from '../../report/documents/resolveTraceTime';
import type { NativeTrace } from '../../native/addon';
import { createLineReader } from '../../native/lineReader';
import { formatDuration } from '../../text/format';
import type { TraceSource } from '../../protocol/trace';
import type { TraceTime } from '../../protocol/traceTime';
import type { Verdicts } from '../../protocol/verdicts';
import type { EndedTrace } from './finalMoment';
import { asAt, atMoment, bornSince } from './momentSource';

interface Selection {
  from: NamedMoment | null;
  until: NamedMoment | null;
}
/** A trace as it was at a moment, with its description. */
export interface ChosenMoment {
  source: TraceSource;
  verdicts: Verdicts;
  /** Only what was allocated from here on is listed. */
  from: NamedMoment | null;
  until: NamedMoment;
  /** null: the moment is no peak. */
  peak: PeakParts | null;
  /** The program has ended, but not by then. */
  ran: boolean;
}

/** The requested moments; the error is one sentence. */
export function selectionOf(
  { at, from }: { at: TraceTime | null; from: TraceTime | null },
  source: TraceSource,
): Selection | { error: string } {
  const resolve = (time: TraceTime | null) => (time === null ? null : resolveTraceTime(time, source));
  const [until, first] = [resolve(at), resolve(from)];
  if (until !== null && 'error' in until) return until;
  if (first !== null && 'error' in first) return first;
  if (first === null || until === null || first.ns <= until.ns) return { from: first, until };
  const [earlier, later] = [formatDuration(first.ns), formatDuration(until.ns)];
  return { error: `The first time must be the earlier one: ${earlier} is after ${later}.` };
}

/** Calls `use` with a trace as it was; `at`: how the moment was named. */
export async function atChosen<T>(
  trace: EndedTrace,
  { from, until }: Selection & { until: NamedMoment },
  at: TraceTime | null,
  use: (chosen: ChosenMoment) => T,
): Promise<T> {
  const { live, durationNs } = trace.session.info();
  const readAt = <R>(ns: number, read: (then: NativeTrace) => R): Promise<R> => atMoment(trace, ns, read);
  // The moment is a peak, and it is explained.
  const isPeak = from === null && at !== null && (at === 'peak' || (typeof at === 'object' && 'peakOf' in at));
  const place = isPeak ? await peakPlace(trace.session, until.ns, readAt) : null;
  return readAt(until.ns, then => {
    const verdicts = verdictsOf(then, createLineReader());
    const whole = asAt(then, until.ns);
    const source = from === null ? whole : bornSince(whole, from.ns);
    const peak = place && explainPeak(whole, place);
    return use({ source, verdicts, from, until, peak, ran: !live && until.ns < durationNs });
  });
}

/** The heading of the moment, above the report on it. */
export function momentLines({ from, until, ran }: ChosenMoment): string[] {
  const judged = ran
    ? ['Findings are as of that time, while the program was still running; they may differ at its end.']
    : [];
  if (from === null) return [`AT ${until.text} of the trace`, ...judged];
  return [
    `BETWEEN ${from.text} and ${until.text} of the trace: memory allocated in that time and ` +
      'still alive at its end.',
    'Findings, peaks and the counts of allocations and frees cover the trace from its beginning.',
    ...judged,
  ];
}
