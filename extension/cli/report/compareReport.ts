import { compareHoldings, type Holding, readHoldings } from '../../analysis/report/compare';
import { comparisonText } from '../../analysis/report/compareText';
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

/** One of the two: as it was at a time, or at its end. */
export interface ComparedSide {
  addon: NativeAddon;
  session: NativeSession;
  /** As the user named it. */
  file: string;
  trace: { path: string };
  untilNs: number | null;
}

/** Two traces, or two moments of one, as text or JSON in pieces. Rejects with a sentence. */
export async function compareReport(
  { groupBy, format }: Pick<ReportArguments, 'groupBy' | 'format'>,
  first: ComparedSide,
  second: ComparedSide,
): Promise<Iterable<string>> {
  const by: CompareBy = groupBy === 'site' ? 'stack' : 'line';
  const layer = listedLayer([...first.session.info().totals, ...second.session.info().totals]);
  const query = { by, layer, process: ALL, device: ALL };
  const holdings = ({ trace, untilNs, ...side }: ComparedSide): Promise<Holding[]> =>
    atMoment({ ...side, path: trace.path }, untilNs, session => readHoldings(session, query));
  const [a, b] = [await holdings(first), await holdings(second)];
  const places = {
    cwdA: cwdOf(first.session.info().session),
    cwdB: cwdOf(second.session.info().session),
    sameRun: sameRun(first.session, second.session),
  };
  const comparison = compareHoldings(a, b, places, ROWS);
  const sides = {
    a: { file: first.file, atNs: first.untilNs },
    b: { file: second.file, atNs: second.untilNs },
  };
  if (format === 'json') return jsonChunks({ version: 1, layer, by, ...sides, ...comparison });
  return [textOf(comparisonText(comparison, layer, sides))];
}

/** Two files of one run hold the same lines. */
function sameRun(one: NativeSession, other: NativeSession): boolean {
  const [a, b] = [one.info(), other.info()];
  return a.startRealtimeMs === b.startRealtimeMs && a.processes[0]?.pid === b.processes[0]?.pid;
}
