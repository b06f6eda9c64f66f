import type { Category, SiteSeries, StepAxis } from '../../protocol/steps';
import type { Layer, LineSource, TraceSource } from '../../protocol/trace';

/** Most points of an axis: shorter runs have a point for every step. */
const POINTS = 256;
/** Few, so that a part takes about a millisecond. */
const ROWS = 16;
/** Each part looks at all blocks of its process: more parts than this take longer than their sites. */
const MOST_PARTS = 256;

/** What one site did, step by step: each array has one entry a step (or a few steps, in the far past of a long run). */
export interface SiteSteps {
  site: number;
  process: number;
  layer: Layer;
  /** -1: several, or host memory. */
  device: number;
  /** Index of the thread, -1: several. */
  thread: number;
  lineSource: LineSource;
  category: Category;
  /** Number of the last step of each entry, rising. */
  steps: readonly number[];
  /** At the step's end. */
  liveBytes: readonly number[];
  liveCount: readonly number[];
  /** Of these, allocated before the step before. */
  oldBytes: readonly number[];
  oldCount: readonly number[];
  /** During the step. */
  allocations: readonly number[];
  allocatedBytes: readonly number[];
  freedBytes: readonly number[];
  /** Of the freed bytes: old ones; those freed inside a run of Python's collector. */
  oldFreedBytes: readonly number[];
  collectedBytes: readonly number[];
  /** Biggest single allocation of the step. */
  largestBytes: readonly number[];
  /** Allocated in the step and still alive at the last one's end. */
  survivorCount: readonly number[];
  survivorBytes: readonly number[];
  /** The greatest age of a block that was freed, in steps; 0: none outlived a whole step. */
  oldestFreedSteps: number;
  /** Serves a framework's cache: it follows the tensors. */
  segments: boolean;
  /** Of the last allocation that was made, whichever step. */
  lastAllocationStep: number;
}

/**
 * All sites of a process and layer, biggest first, in parts: it yields between them. Steps that end meanwhile are left out, so
 * that all sites are seen at one moment.
 */
export function* readSiteSteps(
  source: TraceSource,
  process: number,
  layer: Layer,
): Generator<void, { axis: StepAxis | null; sites: SiteSteps[] }> {
  const query = { process, layer, from: 0, points: POINTS };
  const first = source.siteSeries({ ...query, to: ROWS });
  const ids = first.total > first.rows ? source.siteSeries({ ...query, to: first.total, points: 16 }).id : first.id;
  const sites: SiteSteps[] = [];
  const rows = Math.max(ROWS, Math.ceil(ids.length / MOST_PARTS));
  for (let from = 0; from < ids.length; from += rows) {
    const window = source.siteSeries({ ...query, to: rows, sites: Array.from(ids.subarray(from, from + rows)) });
    const entries = window.last.findLastIndex(step => step <= first.count) + 1;
    const steps = valuesOf(window.last, 0, entries);
    for (let row = 0; row < window.rows; row++) sites.push(siteSteps(window, { process, layer, steps }, row));
    yield;
  }
  return { axis: first, sites };
}

/** The same without the entries before `from`. */
export function cutSteps(site: SiteSteps, from: number): SiteSteps {
  if (from <= 0) return site;
  const entries = Object.entries(site) as [string, unknown][];
  const cut = entries.map(([name, value]) => [name, Array.isArray(value) ? value.slice(from) : value] as const);
  return Object.fromEntries<unknown>(cut) as unknown as SiteSteps;
}

/** `Array.from` of a part of it takes ten times as long. */
function valuesOf(matrix: Float64Array, begin: number, count: number): number[] {
  const values = new Array<number>(count);
  for (let i = 0; i < count; i++) values[i] = matrix[begin + i] ?? 0;
  return values;
}

function siteSteps(window: SiteSeries, common: Pick<SiteSteps, 'process' | 'layer' | 'steps'>, row: number): SiteSteps {
  const begin = row * window.last.length;
  const column = (matrix: Float64Array): number[] => valuesOf(matrix, begin, common.steps.length);
  return {
    ...common,
    site: window.id[row] ?? 0,
    device: window.device[row] ?? -1,
    thread: window.thread[row] ?? -1,
    lineSource: window.lineSource[row] ?? 'none',
    category: window.category[row] ?? 'unnamed',
    liveBytes: column(window.liveBytes),
    liveCount: column(window.liveCount),
    oldBytes: column(window.oldLiveBytes),
    oldCount: column(window.oldLiveCount),
    allocations: column(window.stepAllocations),
    allocatedBytes: column(window.stepAllocatedBytes),
    freedBytes: column(window.stepFreedBytes),
    oldFreedBytes: column(window.oldFreedBytes),
    collectedBytes: column(window.gcFreedBytes),
    largestBytes: column(window.stepLargestBytes),
    survivorCount: column(window.survivorCount),
    survivorBytes: column(window.survivorBytes),
    oldestFreedSteps: window.oldestFreedSteps[row] ?? 0,
    segments: (window.segmentAllocations[row] ?? 0) > 0,
    lastAllocationStep: window.lastAllocationStep[row] ?? 0,
  };
}
