import type { StackedTimeline, StackGroup, StackQuery, StackRank } from '../../protocol/requests/timelineRequests';
import type { Category, ProcessSteps, SiteRow, SiteSeries, TraceSource } from '../../protocol/trace';
import { siteRows } from '../../protocol/trace';
import { remembered } from '../../base/maps';

/** So many sites are read: what smaller ones hold is in the rest. */
const SITES = 128;
const POINTS = 256;
const SPARK_VALUES = 16;
const MOST_PROCESSES = 16;
const ALL = -1;

/** Bytes of one site over intervals of its process. */
interface History {
  group: number;
  toNs: ArrayLike<number>;
  held: ArrayLike<number>;
  most: ArrayLike<number>;
}

const NOBODY = { process: -1, thread: -1 };
const NO_GROUP: StackGroup = { file: '', line: 0, function: '', source: 'none', category: 'unnamed', ...NOBODY };

interface Groups {
  list: StackGroup[];
  index: Map<string, number>;
}

/** Live bytes of the biggest groups over time (see StackedTimeline for how exact they are). */
export function stackedTimeline(source: TraceSource, query: StackQuery): StackedTimeline {
  const info = source.info();
  const window = biggestSites(source, query);
  const sites = siteRows(window);
  const stepped = info.steps.filter(steps => steps.count > 0).slice(0, MOST_PROCESSES);
  const groups: Groups = { list: [], index: new Map() };
  const histories =
    stepped.length > 0
      ? stepped.flatMap(steps => processHistories(source, query, sites, steps, groups, info.durationNs))
      : sampledHistories(sites, window.spark, query, groups, info.durationNs);
  const toNs = unionOf(histories.map(history => history.toNs));
  const held = matrix(histories, groups.list.length, toNs, history => history.held);
  const most = matrix(histories, groups.list.length, toNs, history => history.most);
  const order = ranked(held, groups.list.length, query.rank).slice(0, query.top);
  return {
    fromNs: 0,
    toNs,
    unfinished: stepped.length > 0 ? 2 : 1,
    groups: order.map(group => groups.list[group]!),
    heldBytes: rowsOf(held, order, toNs.length),
    mostBytes: rowsOf(most, order, toNs.length),
  };
}

function biggestSites(source: TraceSource, { layer, rank, process = ALL, device = ALL }: StackQuery) {
  const [sort, includeDead] = rank === 'peak' ? (['peakBytes', true] as const) : (['liveBytes', false] as const);
  const rows = { groupBy: 'site', descending: true, from: 0, to: SITES } as const;
  return source.sites({ layer, process, device, sort, includeDead, ...rows });
}

function processHistories(
  source: TraceSource,
  query: StackQuery,
  biggest: readonly SiteRow[],
  steps: ProcessSteps,
  groups: Groups,
  nowNs: number,
): History[] {
  const { process } = steps;
  const { device = ALL } = query;
  const rows = new Map(biggest.flatMap(row => (row.process === process ? [[row.id, row] as const] : [])));
  if (rows.size === 0) return [];
  const sites = [...rows.keys()];
  const series = source.siteSeries({ process, layer: query.layer, sites, from: 0, to: SITES, points: POINTS });
  const newestNs = Math.max(nowNs, series.endNs[series.endNs.length - 1] ?? 0);
  // A running step may rest for long: from the newest event on, what is there now is known.
  const toNs = [...series.endNs, newestNs, newestNs + 1];
  const histories: History[] = [];
  for (let at = 0; at < series.rows; at++) {
    const row = rows.get(series.id[at]!);
    // A site that allocates on several devices is in the rest of each.
    if (row === undefined || (device !== ALL && series.device[at] !== device)) continue;
    const group = groupOf(groups, query, row, series.category[at] ?? 'unnamed');
    const nowBytes = row.liveBytes;
    const { held, most } = stepBytes(series, at, nowBytes);
    histories.push({ group, toNs, held: [...held, nowBytes], most: [...most, nowBytes] });
  }
  return histories;
}

/** The steps that ended, and the running one: what was there at its begin and is there now. */
function stepBytes(series: SiteSeries, row: number, nowBytes: number): { held: number[]; most: number[] } {
  const points = series.endNs.length;
  const column = (of: Float64Array): Float64Array => of.subarray(row * points, (row + 1) * points);
  const last = column(series.liveBytes)[points - 1] ?? 0;
  return {
    held: [...column(series.minBytes), Math.min(last, nowBytes)],
    most: [...column(series.maxBytes), Math.max(last, nowBytes)],
  };
}

function sampledHistories(
  rows: readonly SiteRow[],
  sparks: Float64Array,
  query: StackQuery,
  groups: Groups,
  nowNs: number,
): History[] {
  const toNs = Array.from({ length: SPARK_VALUES }, (_, i) => (nowNs * (i + 1)) / SPARK_VALUES);
  return rows.map((row, i) => {
    const spark = [...sparks.subarray(i * SPARK_VALUES, (i + 1) * SPARK_VALUES)];
    const before = [0, ...spark];
    // What came a moment ago is there now, though nothing else may come.
    const held = spark.map((bytes, i) => (i + 1 < spark.length ? Math.min(bytes, before[i]!) : bytes));
    const most = spark.map((bytes, i) => Math.max(bytes, before[i]!));
    return { group: groupOf(groups, query, row, 'unnamed'), toNs, held, most };
  });
}

/** Number of the group that a row belongs to. */
function groupOf(groups: Groups, { by }: StackQuery, row: SiteRow, category: Category): number {
  const { file, line, source, process, thread } = row;
  const parts = { line: { file, line, source }, category: { category }, thread: { process, thread } }[by];
  const key = JSON.stringify(by === 'line' ? [file, line, line === 0 && source] : Object.values(parts));
  const made = { ...NO_GROUP, ...parts, ...(by === 'line' && { function: row.function }) };
  return remembered(groups.index, key, () => groups.list.push(made) - 1);
}

/** All times in any of the lists, rising, each once. */
function unionOf(lists: readonly ArrayLike<number>[]): Float64Array {
  const times = new Set<number>();
  for (const list of new Set(lists)) for (let i = 0; i < list.length; i++) times.add(list[i]!);
  return Float64Array.from([...times].filter(time => time > 0)).sort();
}

/** groups × times: at each time the sum over a group's sites, each by the interval that covers that time; the last interval has no end. */
function matrix(
  histories: readonly History[],
  groups: number,
  toNs: Float64Array,
  values: (history: History) => ArrayLike<number>,
): Float64Array {
  const sums = new Float64Array(groups * toNs.length);
  for (const history of histories) {
    const bytes = values(history);
    let own = 0;
    for (let at = 0; at < toNs.length; at++) {
      while (own < history.toNs.length - 1 && history.toNs[own]! < toNs[at]!) own++;
      sums[history.group * toNs.length + at]! += bytes[own] ?? 0;
    }
  }
  return sums;
}

/** Groups that hold anything, biggest first: at the end, where what the running step held throughout counts twice, or ever. */
function ranked(held: Float64Array, groups: number, rank: StackRank): number[] {
  const width = held.length / Math.max(groups, 1);
  const weights = Array.from({ length: groups }, (_, group) => {
    const bytes = held.subarray(group * width, (group + 1) * width);
    return rank === 'alive'
      ? (bytes.at(-1) ?? 0) + (bytes.at(-2) ?? 0)
      : bytes.reduce((most, value) => Math.max(most, value), 0);
  });
  return [...weights.keys()].filter(group => weights[group]! > 0).sort((a, b) => weights[b]! - weights[a]!);
}

function rowsOf(of: Float64Array, rows: readonly number[], width: number): Float64Array {
  const out = new Float64Array(rows.length * width);
  rows.forEach((row, i) => out.set(of.subarray(row * width, (row + 1) * width), i * width));
  return out;
}
