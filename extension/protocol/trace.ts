// What is known of a trace: the data that travels from the native model to the command line, the views and the page.
// Every query answers a window. Sizes are bytes, times are nanoseconds since the session's first process began (`number`:
// exact to 2^53). 64-bit addresses travel as bigint.
import { fieldsIn } from '../base/fields';
import { LAYERS } from './answers.gen';
import type * as answers from './answers.gen';

export * from './answers.gen';

/**
 * 2 numbers a pass: time of its begin (ns), index into `PASSES`. Each continues until the next begins, and the first one may have begun
 * before `fromNs`. The newest 4,096 of a process are kept; a pass that allocates no tensor is not seen.
 */
export type PassBegins = Float64Array;
/** 4 numbers a bucket: time of its begin (ns), min, max and last bytes in it. Buckets without an event are left out. */
export type Timeline = Float64Array;

export type Bucket = ReturnType<typeof bucketsOf>[number];

/** The buckets of a timeline, each up to the next; the last one ends at `untilNs`. */
export function bucketsOf(timeline: Timeline, untilNs: number) {
  return Array.from({ length: timeline.length / 4 }, (_, i) => {
    const [beginNs = 0, min = 0, max = 0, last = 0] = timeline.subarray(4 * i, 4 * i + 4);
    return { beginNs, endNs: timeline[4 * i + 4] ?? untilNs, min, max, last };
  });
}

/** The layer that is shown first: tensors where a framework reported any, else the driver's allocations, else pinned memory. */
export function listedLayer(totals: readonly Pick<answers.Totals, 'layer' | 'allocations'>[]): answers.Layer {
  return LAYERS.find(layer => totals.some(total => total.layer === layer && total.allocations > 0)) ?? 'tensor';
}

/** Those of the layer that is shown first. */
export function listedTotals<T extends Pick<answers.Totals, 'layer' | 'allocations'>>(totals: readonly T[]): T[] {
  const layer = listedLayer(totals);
  return totals.filter(total => total.layer === layer);
}

/** The highest peak (bytes) of a process on a device, in the layer that is shown first. */
export function listedPeakBytes(
  totals: readonly Pick<answers.Totals, 'layer' | 'allocations' | 'peakBytes'>[],
): number {
  return Math.max(0, ...listedTotals(totals).map(({ peakBytes }) => peakBytes));
}

/** Of the process with most; slices of time only where no process has steps. undefined: there are none. */
export function newestSteps({ steps }: Pick<answers.TraceInfo, 'steps'>): answers.ProcessSteps | undefined {
  const known = steps.filter(({ source, count }) => source !== 'time' && count > 0);
  return (known.length > 0 ? known : steps).toSorted((a, b) => b.count - a.count)[0];
}

/** For a part of the run nothing was recorded: steps of that time are not counted. */
export const wasPaused = ({ pauses }: Pick<answers.TraceInfo, 'pauses'>): boolean =>
  pauses.some(({ kind }) => kind === 'recording');

/** What the program that was started ended with; null: unknown. */
export function exitCodeOf({ session, processes }: Pick<answers.TraceInfo, 'session' | 'processes'>): number | null {
  const launched = fieldsIn(session.processes).find(({ exitCode }) => typeof exitCode === 'number');
  return (launched?.exitCode as number | undefined) ?? processes[0]?.exitCode ?? null;
}

/** Exit statuses after Ctrl+C and after SIGTERM: nothing in the program failed. */
const STOPPED = new Set<number | null>([130, 143]);

/** How a program with this exit status ended: its user stopped it, it crashed, or neither. */
export function endOf(exitCode: number | null, stoppedHere = false) {
  const stopped = stoppedHere || STOPPED.has(exitCode);
  return { stopped, exitCode: stopped ? null : exitCode, crashed: !stopped && exitCode !== null && exitCode !== 0 };
}

type SeriesQuery = Pick<answers.TimelineQuery, 'series' | 'process' | 'device'>;

/** The ledgers that a series is made of. Process and device: -1 or absent = all. */
function ledgersOf(
  { totals }: Pick<answers.TraceInfo, 'totals'>,
  { series, process = -1, device = -1 }: SeriesQuery,
): answers.Totals[] {
  return totals.filter(
    total =>
      total.layer === series &&
      total.peakBytes > 0 &&
      (process < 0 || total.process === process) &&
      (device < 0 || total.device === device),
  );
}

/** What a series has at the end of what was read. */
export function aliveNow(
  info: Pick<answers.TraceInfo, 'totals' | 'durationNs'>,
  query: SeriesQuery,
): { timeNs: number; bytes: number } {
  return { timeNs: info.durationNs, bytes: ledgersOf(info, query).reduce((sum, { liveBytes }) => sum + liveBytes, 0) };
}

/** What the totals have to the nanosecond: the peak of the only ledger that a series is made of. */
export function knownPeak(
  info: Pick<answers.TraceInfo, 'totals'>,
  query: SeriesQuery,
): { timeNs: number; bytes: number; process: number; device: number } | null {
  const totals = ledgersOf(info, query);
  const [only] = totals;
  if (!only || totals.length > 1) return null;
  return { timeNs: only.peakNs, bytes: only.peakBytes, process: only.process, device: only.device };
}

/** Whether what was allocated in a backward pass is shown at another line than the one that ran. */
export function isOfBackward(source: answers.LineSource): boolean {
  return source === 'forward' || source === 'forward-near' || source === 'backward-call';
}

/** What a trace answers, live or saved. */
export interface TraceSource {
  info(): answers.TraceInfo;
  sites(query: answers.SiteQuery): answers.SiteWindow;
  /** null: no such site. */
  site(id: number): answers.Site | null;
  allocations(query: answers.AllocationQuery): answers.AllocationWindow;
  timeline(query: answers.TimelineQuery): Timeline;
  siteSeries(query: answers.SiteSeriesQuery): answers.SiteSeries;
  ledgerSeries(query: answers.LedgerSeriesQuery): answers.LedgerSeries;
  passes(query: answers.PassQuery): PassBegins;
  /** By their begins, the outer one first; the newest 1,024 of each of four levels are kept. */
  ranges(query: answers.PassQuery): answers.NamedRange[];
  /** The stacks that free a site's blocks, most frequent first, at most 16. */
  freeLines(site: number): answers.FreeLine[];
  fragmentation(query: answers.DeviceQuery): answers.Fragmentation;
  /** Of the framework's allocator, where it has others than the common one. */
  pools(): answers.Pool[];
  segments(query: answers.SegmentQuery): answers.SegmentMap;
  /** Blocks of the tensor layer, one entry per address, in the order of the request. */
  blocks(query: answers.BlocksQuery): answers.BlockFacts[];
  /** null: no such answer. */
  answer(query: answers.AnswerQuery): answers.Answer | null;
}

/** Flags of the steps of an axis. Recording was off for a part of the step. */
export const STEP_PAUSED = 1;
/** The driver layer was blind for a part of it. */
export const STEP_DRIVER_GAP = 2;
/** Events are missing in it. */
export const STEP_LOST_EVENTS = 4;
