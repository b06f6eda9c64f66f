import { compareHoldings, type Holding, readHoldings } from '../../report/gate/compareHoldings';
import { comparisonText, type Side } from '../../report/gate/compareText';
import { endingOf } from '../../report/tables/ending';
import { cwdOf } from '../../protocol/cwd';
import { textOf } from '../../text/escapeForTerminal';
import type { CompareBy } from '../../protocol/requests/compareRequests';
import { listedLayer, type GroupBy } from '../../protocol/trace';
import type { ReportArguments } from '../arguments/reportArguments';
import { jsonChunks } from './jsonChunks';
import { atMoment } from './momentSource';
import type { Opened } from '../../jobs/openTraceFile';
import type { NamedMoment } from '../../report/documents/resolveTraceTime';

const ROWS = 100;
const ALL = -1;

/** One of the two. */
export interface ComparedSide extends Opened {
  /** As the user named it. */
  file: string;
  /** null: as a report shows it, at its end or at the moment that is shown instead. */
  moment: NamedMoment | null;
}

/** Two traces, or two moments of one, as text or JSON in pieces. Rejects with a sentence. */
export async function compareReport(
  { groupBy, format }: Pick<ReportArguments, 'groupBy' | 'format'>,
  first: ComparedSide,
  second: ComparedSide,
): Promise<Iterable<string>> {
  const { layer, by, a, b, ...comparison } = await compareSides(groupBy, first, second, ROWS);
  if (format === 'json') return jsonChunks({ version: 1, layer, by, a, b, ...comparison });
  const named = { a: { ...a, when: first.moment?.text ?? null }, b: { ...b, when: second.moment?.text ?? null } };
  return [textOf(comparisonText(comparison, layer, named))];
}

/** What each line or stack holds here and there, the `rows` biggest differences. */
export async function compareSides(of: GroupBy | null, first: ComparedSide, second: ComparedSide, rows: number) {
  const by: CompareBy = of === 'site' ? 'stack' : 'line';
  const [one, other] = [first.session.info(), second.session.info()];
  const layer = listedLayer([...one.totals, ...other.totals]);
  const query = { by, layer, process: ALL, device: ALL };
  const holdings = (side: ComparedSide, atNs: number | null): Promise<Holding[]> =>
    atMoment({ ...side, path: side.trace.path }, atNs, session => readHoldings(session, query));
  const sides = { a: sideOf(first), b: sideOf(second) };
  const a = await holdings(first, sides.a.atNs);
  const b = await holdings(second, sides.b.atNs);
  // Two files of one run hold the same lines.
  const sameRun = one.startRealtimeMs === other.startRealtimeMs && one.processes[0]?.pid === other.processes[0]?.pid;
  const places = { cwdA: cwdOf(one.session), cwdB: cwdOf(other.session), sameRun };
  return { layer, by, ...sides, ...compareHoldings(a, b, places, rows) };
}

/** A program that had freed its memory when it ended is compared as its own report shows it. */
function sideOf({ file, session, moment }: ComparedSide): Side {
  const ending = moment === null ? endingOf(session) : null;
  if (ending === null) return { file, atNs: moment?.ns ?? null };
  const { timeNs, bytes: liveBytes, ...shown } = ending;
  return { file, atNs: timeNs, shownMoment: { atSeconds: timeNs / 1e9, ...shown, liveBytes } };
}
