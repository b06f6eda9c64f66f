import { verdictsOf } from '../../analysis/findings/verdictCache';
import { endingOf, endingWords } from '../../analysis/report/ending';
import { asOfMoment, readSnapshot, type Snapshot, type SnapshotOptions } from '../../analysis/report/snapshot';
import { renderTable } from '../../analysis/report/table';
import type { NativeAddon, NativeSession } from '../../engine/addon';
import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { asAt, atMoment } from './momentSource';

/** A trace that is read to its end. */
export interface EndedTrace {
  addon: NativeAddon;
  session: NativeSession;
  /** What `addon.open` takes. */
  path: string;
  /** It was read while it was recorded: read once more, its times are those that a moment of it is read by. */
  followed?: true;
}

/** The table of a whole trace: what is alive is that of its end, or of the moment that is shown instead. */
export async function finalTable(
  trace: EndedTrace,
  options: SnapshotOptions & { now: Date },
  verdicts: Verdicts,
): Promise<string[]> {
  return renderTable(await finalSnapshot(trace, options, verdicts), { now: options.now, final: true });
}

/** Behind the end of a trace, however its times are read. */
const BEHIND_NS = 1e9;

async function finalSnapshot(trace: EndedTrace, options: SnapshotOptions, verdicts: Verdicts): Promise<Snapshot> {
  const whole = readSnapshot(trace.session, options, verdicts);
  if (endingOf(trace.session) === null) return whole;
  try {
    const ending = await atMoment(trace, trace.followed ? whole.info.durationNs + BEHIND_NS : null, endingOf);
    if (ending === null) return whole;
    const { timeNs } = ending;
    const { title, reason } = endingWords(ending);
    const read = (then: NativeSession): Snapshot => readSnapshot(asAt(then, timeNs), options, verdictsOf(then));
    return asOfMoment(whole, await atMoment(trace, timeNs, read), `${title}: ${reason}`);
  } catch {
    return whole; // its files are gone: what was read of it is the end
  }
}

/** The moment that people are shown of a trace instead of its end, for its JSON document; nothing where that is the end. */
export function shownMoment(source: TraceSource): { shownMoment?: object } {
  const ending = endingOf(source);
  if (ending === null) return {};
  const { timeNs, step, bytes } = ending;
  return { shownMoment: { atSeconds: timeNs / 1e9, step, liveBytes: bytes } };
}
