import { BEHIND_NS, type FailureReader } from '../../report/documents/oomReport';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { waysToFit } from '../../fit/waysToFit';
import { hasRounds } from '../../report/tables/buildUp';
import { endingOf, endingWords, peakMoment } from '../../report/tables/ending';
import { toothBefore } from '../../report/tables/stepsBuildUp';
import { peakPlace } from '../../report/tables/nextPeak';
import { buildUpsOf, builtUpLines, explainPeak, type PeakParts } from '../../report/tables/peak';
import { asOfMoment, readSnapshot, type Snapshot, type SnapshotOptions } from '../../report/tables/snapshot';
import type { NativeAddon, NativeTrace } from '../../native/addon';
import { cellRunsOf } from '../../protocol/notebookCells';
import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { asAt, asEnded, atMoment } from './momentSource';

/** A trace that is read to its end. */
export interface EndedTrace {
  addon: NativeAddon;
  session: NativeTrace;
  /** What `addon.open` takes. */
  path: string;
  /** It was read while it was recorded: read once more, its times are those that a moment of it is read by. */
  followed?: true;
}

/** Calls `use` with what reads a whole trace: what is alive is that of its end, or of the moment that is shown instead. */
export async function withFinal<T>(
  trace: EndedTrace,
  verdicts: Verdicts,
  use: (read: (options: SnapshotOptions) => Snapshot) => T,
): Promise<T> {
  const built = await builtUpPeak(trace);
  const peak = built === null ? [] : builtUpLines(built);
  const whole = (options: SnapshotOptions): Snapshot => ({ ...readSnapshot(trace.session, options, verdicts), peak });
  return atShown(trace, (then, asOf) => {
    if (asOf === null) return use(whole);
    const verdictsThen = verdictsOf(then);
    const runs = cellRunsOf(trace.session.info()); // the last one is reported once it has ended
    return use(options => asOfMoment(whole(options), readSnapshot(then, options, verdictsThen, runs), asOf));
  });
}

/** The peak, where memory builds up to it, within its step or over many; null: it does not, or the files of the trace are gone. */
async function builtUpPeak(trace: EndedTrace): Promise<PeakParts | null> {
  const ns = peakMoment(trace.session);
  const { steps, totals } = trace.session.info();
  const isBuilt = totals.some(total => total.layer === 'tensor' && toothBefore(trace.session, total, ns ?? 0) !== null);
  if (ns === null || (!isBuilt && !steps.some(({ process }) => hasRounds(trace.session, process)))) return null;
  const readAt = <R>(untilNs: number, read: (then: NativeTrace) => R): Promise<R> => atMoment(trace, untilNs, read);
  try {
    const place = await peakPlace(trace.session, ns, readAt);
    const peak = place && (await readAt(ns, then => explainPeak(asAt(then, ns), place)));
    return peak === null || buildUpsOf(peak).length === 0 ? null : peak;
  } catch {
    return null;
  }
}

/** Calls `use` with a trace at its end, or at the moment that is shown instead; `asOf`: which one, and why, null where it is the end. */
export async function atShown<T>(trace: EndedTrace, use: (then: TraceSource, asOf: string | null) => T): Promise<T> {
  if (endingOf(trace.session) === null) return use(trace.session, null);
  try {
    const endNs = trace.followed ? trace.session.info().durationNs + BEHIND_NS : null;
    const ending = await atMoment(trace, endNs, endingOf);
    if (ending === null) return use(trace.session, null);
    const { title, reason } = endingWords(ending);
    return await atMoment(trace, ending.timeNs, then =>
      use(asEnded(asAt(then, ending.timeNs)), `${title}, because ${reason}`),
    );
  } catch {
    return use(trace.session, null); // its files are gone: what was read of it is the end
  }
}

/** Reads moments of a trace. */
export function momentsOf(trace: EndedTrace): FailureReader {
  return {
    // The times of a trace that is read anew differ a little.
    endNs: trace.followed ? trace.session.info().durationNs + BEHIND_NS : null,
    readAt: (untilNs, read) => atMoment(trace, untilNs, read),
    waysToFit: (failure, limitBytes) => waysToFit(trace.addon, trace.path, trace.session, failure, limitBytes),
  };
}

/** For the JSON document: the moment that people are shown instead of the end, and the peak where memory builds up to it. */
export async function shownMoments(trace: EndedTrace): Promise<{ shownMoment?: object; peak?: PeakParts }> {
  const [ending, peak] = [endingOf(trace.session), await builtUpPeak(trace)];
  const shown = ending && {
    atSeconds: ending.timeNs / 1e9,
    step: ending.step,
    failed: ending.failed,
    liveBytes: ending.bytes,
  };
  return { ...(shown && { shownMoment: shown }), ...(peak && { peak }) };
}
