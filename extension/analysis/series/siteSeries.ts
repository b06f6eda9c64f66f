import type { Layer, SiteSeries, StepAxis, TraceSource } from '../../protocol/trace';

/** Most points of an axis: shorter runs have a point for every step. */
const POINTS = 256;
/** Few, so that a part takes about a millisecond. */
const ROWS = 16;
/** Each part looks at all blocks of its process: more parts than this take longer than their sites. */
const MOST_PARTS = 256;

const COLUMNS = [
  ...(['liveBytes', 'liveCount', 'oldLiveBytes', 'oldLiveCount', 'stepAllocations', 'stepAllocatedBytes'] as const),
  ...(['oldFreedBytes', 'gcFreedBytes', 'stepLargestBytes', 'survivorCount', 'survivorBytes'] as const),
] as const;

/** What one site did, step by step: each column of `SiteSeries` has one entry a step (or a few steps, in the far past of a long run). */
export type SiteSteps = ReturnType<typeof siteSteps>;
/** What sites have in common. */
interface Axis {
  process: number;
  layer: Layer;
  /** Number of the last step of each entry, rising. */
  steps: readonly number[];
}

/**
 * All sites of a process and layer, biggest first, in parts: it yields between them. Steps that end meanwhile are left out, so
 * that all sites are seen at one moment.
 */
export function* readSiteSteps(
  source: TraceSource,
  process: number,
  layer: Layer,
): Generator<void, { axis: StepAxis; sites: SiteSteps[] }> {
  const query = { process, layer, from: 0, points: POINTS };
  const axis = source.siteSeries({ ...query, to: ROWS });
  const ids = axis.total > axis.rows ? source.siteSeries({ ...query, to: axis.total, points: 16 }).id : axis.id;
  const sites: SiteSteps[] = [];
  const rows = Math.max(ROWS, Math.ceil(ids.length / MOST_PARTS));
  for (let from = 0; from < ids.length; from += rows) {
    const window = source.siteSeries({ ...query, to: rows, sites: Array.from(ids.subarray(from, from + rows)) });
    const entries = window.last.findLastIndex(step => step <= axis.count) + 1;
    const steps = valuesOf(window.last, 0, entries);
    for (let row = 0; row < window.rows; row++) sites.push(siteSteps(window, { process, layer, steps }, row));
    yield;
  }
  return { axis, sites };
}

/** The same without the entries before `from`. */
export function cutSteps(site: SiteSteps, from: number): SiteSteps {
  return from <= 0 ? site : { ...site, steps: site.steps.slice(from), ...columns(name => site[name].slice(from)) };
}

type ByColumn = Record<(typeof COLUMNS)[number], readonly number[]>;

function columns(valuesOf: (name: keyof ByColumn) => readonly number[]) {
  return Object.fromEntries(COLUMNS.map(name => [name, valuesOf(name)])) as ByColumn;
}

/** `Array.from` of a part of it takes ten times as long. */
function valuesOf(matrix: Float64Array, begin: number, count: number): number[] {
  const values = new Array<number>(count);
  for (let i = 0; i < count; i++) values[i] = matrix[begin + i] ?? 0;
  return values;
}

function siteSteps(window: SiteSeries, common: Axis, row: number) {
  return {
    ...common,
    site: window.id[row] ?? 0,
    /** -1: several, or host memory. */
    device: window.device[row] ?? -1,
    lineSource: window.lineSource[row] ?? 'none',
    category: window.category[row] ?? 'unnamed',
    /** The greatest age of a block that was freed, in steps; 0: none outlived a whole step. */
    oldestFreedSteps: window.oldestFreedSteps[row] ?? 0,
    /** Serves a framework's cache: it follows the tensors. */
    segments: (window.segmentAllocations[row] ?? 0) > 0,
    /** Of the last allocation that was made, whichever step. */
    lastAllocationStep: window.lastAllocationStep[row] ?? 0,
    ...columns(name => valuesOf(window[name], row * window.last.length, common.steps.length)),
  };
}
