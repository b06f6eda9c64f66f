import { compareHoldings, type Holding, readHoldings } from '../../analysis/report/compare';
import { comparisonText, type Side } from '../../analysis/report/compareText';
import { endingOf } from '../../analysis/report/ending';
import type { NativeAddon, NativeSession } from '../../engine/addon';
import { cwdOf } from '../../protocol/cwd';
import { textOf } from '../../protocol/inert';
import type { CompareBy } from '../../protocol/requests/compareRequests';
import { listedLayer } from '../../protocol/trace';
import type { ReportArguments } from '../arguments/reportArguments';
import { jsonChunks } from './jsonDocument';
import { atMoment } from './momentSource';

const ROWS = 100;
const ALL = -1;

/** One of the two: as it was at a time; null: as a report shows it, at its end or at the moment that is shown instead. */
export interface ComparedSide {
  addon: NativeAddon;
  session: NativeSession;
  /** As the user named it. */
  file: string;
  trace: { path: string };
  untilNs: number | null;
  /** That moment as the user named it. */
  when: string | null;
}

/** Two traces, or two moments of one, as text or JSON in pieces. Rejects with a sentence. */
export async function compareReport(
  { groupBy, format }: Pick<ReportArguments, 'groupBy' | 'format'>,
  first: ComparedSide,
  second: ComparedSide,
): Promise<Iterable<string>> {
  const by: CompareBy = groupBy === 'site' ? 'stack' : 'line';
  const [one, other] = [first.session.info(), second.session.info()];
  const layer = listedLayer([...one.totals, ...other.totals]);
  const query = { by, layer, process: ALL, device: ALL };
  const holdings = ({ trace, untilNs, ...side }: ComparedSide): Promise<Holding[]> =>
    atMoment({ ...side, path: trace.path }, untilNs, session => readHoldings(session, query));
  const sides = { a: sideOf(first), b: sideOf(second) };
  const a = await holdings({ ...first, untilNs: sides.a.atNs });
  const b = await holdings({ ...second, untilNs: sides.b.atNs });
  // Two files of one run hold the same lines.
  const sameRun = one.startRealtimeMs === other.startRealtimeMs && one.processes[0]?.pid === other.processes[0]?.pid;
  const places = { cwdA: cwdOf(one.session), cwdB: cwdOf(other.session), sameRun };
  const comparison = compareHoldings(a, b, places, ROWS);
  if (format === 'json') return jsonChunks({ version: 1, layer, by, ...sides, ...comparison });
  const named = { a: { ...sides.a, when: first.when }, b: { ...sides.b, when: second.when } };
  return [textOf(comparisonText(comparison, layer, named))];
}

/** A program that had freed its memory when it ended is compared as its own report shows it. */
function sideOf({ file, session, untilNs }: ComparedSide): Side {
  const ending = untilNs === null ? endingOf(session) : null;
  if (ending === null) return { file, atNs: untilNs };
  const { timeNs, step, bytes, leftBytes } = ending;
  return { file, atNs: timeNs, shownMoment: { atSeconds: timeNs / 1e9, step, liveBytes: bytes, leftBytes } };
}
