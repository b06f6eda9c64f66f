// Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.

export const LAYERS = ['tensor', 'driver', 'host'] as const;
export type Layer = (typeof LAYERS)[number];

export const GROUP_BYS = ['site', 'line', 'function', 'module', 'thread', 'process', 'device', 'category'] as const;
/** `module`: the file of the line, as the program names it. `category`: what live blocks are for; of these groups only what lives is known, and all that is of their past is NaN. */
export type GroupBy = (typeof GROUP_BYS)[number];

export const LINE_SOURCES = ['python', 'forward', 'forward-near', 'backward-call', 'none', 'before-attach'] as const;
/** How a Python line was found. `none`: no Python in the stack. `before-attach`: the memory was there before the recording began; mostly who took it is not known, and it is no leak of what was watched. */
export type LineSource = (typeof LINE_SOURCES)[number];

export const ALLOCATION_SORTS = ['bytes', 'age', 'address', 'step', 'name', 'site'] as const;
/** `name`: what has none is last either way. `site`: by the number of the site, which keeps its blocks together. */
export type AllocationSort = (typeof ALLOCATION_SORTS)[number];

export const SERIES = ['tensor', 'reserved', 'driver', 'host'] as const;
export type Series = (typeof SERIES)[number];

export const DRIVER_SOURCES = ['none', 'cupti', 'wrapped', 'uprobe'] as const;
export type DriverSource = (typeof DRIVER_SOURCES)[number];

export const CATEGORIES = ['other', 'parameter', 'gradient', 'optimizer', 'buffer', 'activation', 'workspace', 'unnamed'] as const;
/** What a live block is for, as the agent found between steps; `unnamed`: nobody looked at it. */
export type Category = (typeof CATEGORIES)[number];

export const STEP_SOURCES = ['optimizer', 'periodic', 'time'] as const;
/** How steps were found: by the optimizer’s steps; by a line that allocates once in every round of the program’s loop; as equal slices of time, where neither is known (yet). */
export type StepSource = (typeof STEP_SOURCES)[number];

export const SITE_SORTS = ['liveBytes', 'liveCount', 'peakBytes', 'allocations', 'frees', 'allocatedBytes', 'growth', 'label', 'thread', 'device'] as const;
export type SiteSort = (typeof SITE_SORTS)[number];

/** A row of live memory: a site, or a group of them. */
export interface SiteRow {
  /** The site’s id for groupBy `site`, else the id of the group’s biggest site. */
  id: number;
  /** `Site.key` of that site. */
  key: string;
  /** Bytes alive now. */
  liveBytes: number;
  /** Blocks alive now. */
  liveCount: number;
  /** Most bytes alive at a time. Exact for a whole site, and for a process or device alone on its layer; for sums of several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one maker). */
  peakBytes: number;
  /** So far. */
  allocations: number;
  /** So far. */
  frees: number;
  /** All bytes ever allocated. */
  allocatedBytes: number;
  /** Least-squares slope of live bytes over the recent past, bytes a second. */
  growth: number;
  /** Live bytes in 16 equal spans of the run so far, for a spark line. */
  spark: Float64Array;
  /** Thread index within `process`, -1 = several. */
  thread: number;
  /** -1 = several. */
  process: number;
  /** -1 = host, none or several. */
  device: number;
  /** Of the user frame, or the innermost one. Line 0 and empty file: no Python line. */
  file: string;
  line: number;
  function: string;
  source: LineSource;
  /** `Site.library` of that site. */
  library: string;
  /** Name of the group as text (thread `python:123`, process `train.py (123)`, device `gpu_0`, else `file:line`, or the library’s file name where there is no line). */
  label: string;
}
/** A window of rows; each array has `rows` entries. */
export interface SiteWindow {
  revision: number;
  total: number;
  rows: number;
  /** Sums over all rows that match, not only the window’s. */
  sumLiveBytes: number;
  sumLiveCount: number;
  /** The site’s id for groupBy `site`, else the id of the group’s biggest site. */
  id: Uint32Array;
  /** `Site.key` of that site. */
  key: string[];
  /** Bytes alive now. */
  liveBytes: Float64Array;
  /** Blocks alive now. */
  liveCount: Float64Array;
  /** Most bytes alive at a time. Exact for a whole site, and for a process or device alone on its layer; for sums of several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one maker). */
  peakBytes: Float64Array;
  /** So far. */
  allocations: Float64Array;
  /** So far. */
  frees: Float64Array;
  /** All bytes ever allocated. */
  allocatedBytes: Float64Array;
  /** Least-squares slope of live bytes over the recent past, bytes a second. */
  growth: Float64Array;
  /** Live bytes in 16 equal spans of the run so far, for a spark line. */
  spark: Float64Array;
  /** Thread index within `process`, -1 = several. */
  thread: Int32Array;
  /** -1 = several. */
  process: Int32Array;
  /** -1 = host, none or several. */
  device: Int32Array;
  /** Of the user frame, or the innermost one. Line 0 and empty file: no Python line. */
  file: string[];
  line: Uint32Array;
  function: string[];
  source: LineSource[];
  /** `Site.library` of that site. */
  library: string[];
  /** Name of the group as text (thread `python:123`, process `train.py (123)`, device `gpu_0`, else `file:line`, or the library’s file name where there is no line). */
  label: string[];
}
/** Row `i` of a window, which has it. */
export function siteRow(window: SiteWindow, i: number): SiteRow {
  return {
    id: window.id[i]!,
    key: window.key[i]!,
    liveBytes: window.liveBytes[i]!,
    liveCount: window.liveCount[i]!,
    peakBytes: window.peakBytes[i]!,
    allocations: window.allocations[i]!,
    frees: window.frees[i]!,
    allocatedBytes: window.allocatedBytes[i]!,
    growth: window.growth[i]!,
    spark: window.spark.subarray(16 * i, 16 * i + 16),
    thread: window.thread[i]!,
    process: window.process[i]!,
    device: window.device[i]!,
    file: window.file[i]!,
    line: window.line[i]!,
    function: window.function[i]!,
    source: window.source[i]!,
    library: window.library[i]!,
    label: window.label[i]!,
  };
}
/** All rows of a window. */
export const siteRows = (window: SiteWindow): SiteRow[] =>
  Array.from({ length: window.rows }, (_, i) => siteRow(window, i));
export const NO_SITE_ROW: SiteRow = {
    id: 0,
    key: '',
    liveBytes: 0,
    liveCount: 0,
    peakBytes: 0,
    allocations: 0,
    frees: 0,
    allocatedBytes: 0,
    growth: 0,
    spark: new Float64Array(16),
    thread: -1,
    process: -1,
    device: -1,
    file: '',
    line: 0,
    function: '',
    source: 'python',
    library: '',
    label: '',
};
/** A window of these rows; of each, what is not named is nothing. */
export function siteWindow(rows: readonly Partial<SiteRow>[], head: Partial<SiteWindow> = {}): SiteWindow {
  const all = rows.map((row): SiteRow => ({ ...NO_SITE_ROW, ...row }));
  return {
    revision: 1,
    total: all.length,
    rows: all.length,
    sumLiveBytes: 0,
    sumLiveCount: 0,
    id: Uint32Array.from(all, row => row.id),
    key: all.map(row => row.key),
    liveBytes: Float64Array.from(all, row => row.liveBytes),
    liveCount: Float64Array.from(all, row => row.liveCount),
    peakBytes: Float64Array.from(all, row => row.peakBytes),
    allocations: Float64Array.from(all, row => row.allocations),
    frees: Float64Array.from(all, row => row.frees),
    allocatedBytes: Float64Array.from(all, row => row.allocatedBytes),
    growth: Float64Array.from(all, row => row.growth),
    spark: Float64Array.from(all.flatMap(row => [...row.spark])),
    thread: Int32Array.from(all, row => row.thread),
    process: Int32Array.from(all, row => row.process),
    device: Int32Array.from(all, row => row.device),
    file: all.map(row => row.file),
    line: Uint32Array.from(all, row => row.line),
    function: all.map(row => row.function),
    source: all.map(row => row.source),
    library: all.map(row => row.library),
    label: all.map(row => row.label),
    ...head,
  };
}
