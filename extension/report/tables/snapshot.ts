import { leftByCells } from '../../analysis/findings/kinds/cell';
import { type CellRun, cellRunsOf } from '../../protocol/notebookCells';
import { t } from '@vscode/l10n';
import { baseName } from '../../text/format';
import { moduleText } from '../../text/moduleText';
import type {
  AllocationQuery,
  GroupBy,
  Layer,
  Pool,
  ProcessInfo,
  SiteQuery,
  SiteRow,
  Totals,
  TraceInfo,
  TraceSource,
} from '../../protocol/trace';
import { listedLayer, allocationRows, siteRows } from '../../protocol/trace';
import type { SiteState, Verdicts } from '../../protocol/verdicts';
import { reservedText } from '../../analysis/ledger/pools';
import { foldEqualLayers } from '../trees/equalLayers';
import { categoriesText, readModules } from '../trees/modules';
import { groupVerdicts } from '../../analysis/findings/rowVerdicts';
import { sum } from '../../analysis/series/statistics';
import { siteText } from '../../analysis/sites/site';
import { verdictsOf } from '../../analysis/findings/verdictCache';
import { remembered } from '../../base/maps';

/** What one table shows, read from a trace at one moment. */
export type Snapshot = ReturnType<typeof readSnapshot>;
export type ProcessRows = ReturnType<typeof readProcess>;
export type Rows = ReturnType<typeof readRows>;
export type GroupRow = SiteRow & {
  /** Of its sites, what is worst; null where that is not known. */
  verdict: SiteState | null;
  bytesPerStep: number;
};
/** Live memory by the requested group. */
export type Groups = ReturnType<typeof readGroups>;
export interface SnapshotOptions {
  /** Allocations listed for a thread; null: all where they are few in the whole trace, else none. */
  top: number | null;
  groupBy: GroupBy;
  /** Rows of the grouped list. */
  groups: number;
}
/** Which rows of the grouped list, in which order. */
export type GroupsQuery = Pick<SiteQuery, 'groupBy' | 'sort' | 'descending' | 'filter' | 'from' | 'to'>;

const MAX_THREADS = 256;
/** So many blocks of all threads are listed unasked. */
const FEW = 10;

/** Reads what a table shows. Cost grows with threads and `top`, not with the number of live allocations. */
export function readSnapshot(
  source: TraceSource,
  options: SnapshotOptions,
  verdicts: Verdicts = verdictsOf(source),
  runs: readonly CellRun[] = cellRunsOf(source.info()),
) {
  const info = source.info();
  const lines = new Map<number, string>();
  const lineOf = (site: number): string => remembered(lines, site, () => siteText(source.site(site)));
  const processes = info.processes.map(process => readProcess(source, info, process, options.top ?? FEW, lineOf));
  return {
    info,
    verdicts,
    processes: options.top === null ? fewOrNone(processes) : processes,
    pools: source.pools(),
    /** Of a notebook, with what they left; most first. */
    cells: leftByCells(source, runs),
    groups: readGroups(source, verdicts, {
      ...{ groupBy: options.groupBy, sort: 'liveBytes', descending: true, from: 0, to: options.groups },
    }),
    /** The moment that processes and groups are of, in words; null: that of all the rest. */
    asOf: null as string | null,
    /** The peak in sentences, where memory builds up to it. */
    peak: [] as readonly string[],
  };
}

/** The findings and notes on the whole, and its peaks, with what was alive at an earlier moment of it. */
export function asOfMoment(whole: Snapshot, then: Snapshot, asOf: string): Snapshot {
  const peakOf = ({ process, layer, device, peakBytes }: Totals): number =>
    whole.info.totals.find(one => one.process === process && one.layer === layer && one.device === device)?.peakBytes ??
    peakBytes;
  const processes = then.processes.map(entry => ({
    ...entry,
    totals: entry.totals.map(total => ({ ...total, peakBytes: peakOf(total) })),
  }));
  const { groups, pools, cells } = then;
  return {
    ...whole,
    processes,
    groups,
    pools,
    cells,
    asOf,
    verdicts: { ...whole.verdicts, ledger: then.verdicts.ledger },
  };
}

function fewOrNone(processes: ProcessRows[]): ProcessRows[] {
  const lists = processes.flatMap(({ threads, host }) => [...threads, host]);
  if (sum(lists.map(({ rows, more }) => rows.length + more)) <= FEW) return processes;
  const none = { rows: [], more: 0, moreBytes: 0 };
  return processes.map(process => ({ ...process, threads: [], moreThreads: 0, host: none }));
}

function readProcess(
  source: TraceSource,
  info: TraceInfo,
  process: ProcessInfo,
  top: number,
  lineOf: (site: number) => string,
) {
  const totals = info.totals.filter(entry => entry.process === process.index);
  const layer = listedLayer(totals);
  const read = (layer: Layer, thread?: number): Rows => {
    const query: AllocationQuery = { layer, process: process.index, sort: 'bytes', descending: true, from: 0, to: top };
    if (thread !== undefined) query.thread = thread;
    return readRows(source, query, lineOf);
  };
  const all = (layer === 'host' ? [] : process.threads)
    .map(thread => ({ thread, ...read(layer, thread.index) }))
    .filter(entry => entry.rows.length > 0);
  return {
    process,
    /** The layer that is listed by thread; pinned host memory has a list of its own. */
    layer,
    threads: all.slice(0, MAX_THREADS),
    moreThreads: Math.max(0, all.length - MAX_THREADS),
    host: read('host'),
    totals,
  };
}

function readRows(source: TraceSource, query: AllocationQuery, lineOf: (site: number) => string) {
  const window = source.allocations(query);
  const rows = allocationRows(window).map(row => ({ ...row, line: lineOf(row.site) }));
  return { rows, more: window.total - window.rows, moreBytes: window.sumBytes - sum(rows.map(({ bytes }) => bytes)) };
}

/** Live memory by line, or by another requested group, with what is known of each row. */
export function readGroups(source: TraceSource, verdicts: Verdicts, query: GroupsQuery) {
  const layer = listedLayer(source.info().totals);
  const { groupBy } = query;
  if (groupBy === 'module-path') return readModuleGroups(source, { ...query, layer });
  const window = source.sites({ layer, ...query, includeDead: groupBy === 'pool' });
  const all = siteRows(window);
  const judged = groupVerdicts(source, verdicts, all, groupBy);
  const pools = groupBy === 'pool' ? source.pools() : [];
  const rows: GroupRow[] = all.map((row, i) => ({
    ...row,
    label: groupBy === 'site' || groupBy === 'line' ? siteText(source.site(row.id)) : groupLabel(row, groupBy, pools),
    verdict: judged[i]?.state ?? null,
    bytesPerStep: judged[i]?.bytesPerStep ?? 0,
  }));
  // Growth is judged by steps: they are known.
  const bySteps = !['none', 'time'].includes(verdicts.steps.source) || rows.some(row => row.bytesPerStep > 0);
  return { by: groupBy, layer, rows, total: window.total, bySteps };
}

/** Equal layers are one row, each with what it is for. */
function readModuleGroups(source: TraceSource, query: GroupsQuery & { layer: Layer }) {
  const folded = foldEqualLayers(readModules(source, query));
  const rows: GroupRow[] = folded.slice(query.from, query.to).map(row => ({
    ...row,
    label: [moduleText(row.label, t), categoriesText(row.categories)].filter(Boolean).join(': '),
    verdict: null,
    bytesPerStep: 0,
  }));
  return { by: query.groupBy, layer: query.layer, rows, total: folded.length, bySteps: true };
}

/** A function by its name and file; two of one name in a file stay two rows. A pool with what is reserved for it, on all devices. */
function groupLabel({ label, file, function: name }: SiteRow, by: GroupBy, pools: readonly Pool[]): string {
  const own = pools.filter(pool => pool.label === label && pool.kind !== 'paused');
  if (own.length > 0) return `${label}: ${reservedText(own)}`;
  return by === 'function' && name !== '' ? `${name} (${baseName(file)})` : label;
}
