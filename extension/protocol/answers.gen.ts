// Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.

export const LAYERS = ['tensor', 'driver', 'host'] as const;
export type Layer = (typeof LAYERS)[number];

export const GROUP_BYS = ['site', 'line', 'function', 'file', 'thread', 'process', 'device', 'module-path', 'category', 'pool'] as const;
/** `file`: of the line, as the program names it. `module-path`: parameters, their gradients and states by their names, all else by the call of a module in its stack. `category`: what live blocks are for. `pool`: of the framework’s allocator. Of these three only what lives is known, and all that is of their past is NaN. */
export type GroupBy = (typeof GROUP_BYS)[number];

export const LINE_SOURCES = ['python', 'forward', 'forward-near', 'backward-call', 'none', 'before-attach'] as const;
/** How a Python line was found. `none`: no Python in the stack. `before-attach`: the memory was there before the recording began; mostly its line is unknown, and it is not a leak of what was recorded. */
export type LineSource = (typeof LINE_SOURCES)[number];

export const ALLOCATION_SORTS = ['bytes', 'age', 'address'] as const;
export type AllocationSort = (typeof ALLOCATION_SORTS)[number];

export const SERIES = ['tensor', 'reserved', 'driver', 'host'] as const;
export type Series = (typeof SERIES)[number];

export const DRIVER_SOURCES = ['none', 'cupti', 'uprobe'] as const;
export type DriverSource = (typeof DRIVER_SOURCES)[number];

export const CATEGORIES = ['other', 'parameter', 'gradient', 'optimizer', 'buffer', 'activation', 'workspace', 'unnamed'] as const;
/** What a live block is for, as the agent found between steps; `unnamed`: not looked at. */
export type Category = (typeof CATEGORIES)[number];

export const PASSES = ['other', 'forward', 'evaluation', 'backward', 'optimizer'] as const;
/** What a program did when it allocated. `evaluation`: a forward pass of which autograd keeps nothing. */
export type Pass = (typeof PASSES)[number];

export const POOL_KINDS = ['common', 'graph', 'mempool', 'private', 'unknown', 'paused'] as const;
/** `common`: of all that has no pool of its own. `graph`: of captured CUDA graphs. `mempool`: of `torch.cuda.MemPool`. `private`: of one of these. `unknown`: not looked at since the segment was taken. `paused`: no pool, but tensors whose addresses are kept while their memory was returned to the GPU. */
export type PoolKind = (typeof POOL_KINDS)[number];

export const STEP_SOURCES = ['optimizer', 'periodic', 'time'] as const;
/** How steps were found: by the optimizer’s steps; by a line that allocates once in every round of the program’s loop; as equal slices of time, where neither is known (yet). */
export type StepSource = (typeof STEP_SOURCES)[number];

export const SITE_SORTS = ['liveBytes', 'liveCount', 'meanBytes', 'peakBytes', 'allocations', 'frees', 'allocatedBytes', 'growth', 'label', 'thread', 'device'] as const;
export type SiteSort = (typeof SITE_SORTS)[number];

/** A row of live memory: a site, or a group of them. */
export interface SiteRow {
  /** The site’s id for groupBy `site`, else the id of the group’s biggest site. */
  id: number;
  /** `Site.key` of that site. */
  key: string;
  /** Live bytes. */
  liveBytes: number;
  /** Live blocks. */
  liveCount: number;
  /** Mean size of the live blocks. */
  meanBytes: number;
  /** Highest live bytes at any one time; of a function, file or thread with several lines, at least this. Exact for a whole site or line, and for a process or device alone on its layer; for sums of several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one maker). */
  peakBytes: number;
  /** Allocations so far. */
  allocations: number;
  /** Frees so far. */
  frees: number;
  /** All bytes ever allocated. */
  allocatedBytes: number;
  /** Least-squares slope of live bytes over the recent past, bytes a second. */
  growth: number;
  /** Live bytes at the ends of 16 steps at equal distances, the last as it is now, for a spark line; where no steps are known, at the ends of 16 equal spans of the run so far. */
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
  /** Live bytes. */
  liveBytes: Float64Array;
  /** Live blocks. */
  liveCount: Float64Array;
  /** Mean size of the live blocks. */
  meanBytes: Float64Array;
  /** Highest live bytes at any one time; of a function, file or thread with several lines, at least this. Exact for a whole site or line, and for a process or device alone on its layer; for sums of several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one maker). */
  peakBytes: Float64Array;
  /** Allocations so far. */
  allocations: Float64Array;
  /** Frees so far. */
  frees: Float64Array;
  /** All bytes ever allocated. */
  allocatedBytes: Float64Array;
  /** Least-squares slope of live bytes over the recent past, bytes a second. */
  growth: Float64Array;
  /** Live bytes at the ends of 16 steps at equal distances, the last as it is now, for a spark line; where no steps are known, at the ends of 16 equal spans of the run so far. */
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
    meanBytes: window.meanBytes[i]!,
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
    meanBytes: 0,
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
    meanBytes: Float64Array.from(all, row => row.meanBytes),
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

/** A live block. */
export interface AllocationRow {
  address: bigint;
  bytes: number;
  device: number;
  /** Index of the process. */
  process: number;
  thread: number;
  layer: Layer;
  site: number;
  timeNs: number;
  /** Handle; `STREAM_UNKNOWN`: not known. */
  stream: bigint;
  /** enum gmt_kind of native/wire. */
  kind: number;
  /** The step in which it was allocated, from 1. */
  step: number;
  /** How many steps of its process have ended since. */
  ageSteps: number;
  category: Category;
  /** `encoder.layers.3.linear1.weight`; empty if it has no name. */
  name: string;
  /** Path of the module that has it or made it, `encoder.layers.3`; empty: none did, or it is not known. */
  module: string;
  /** Requested bytes, of tensors; NaN: the framework’s allocator did not report them. */
  askedBytes: number;
  /** Pool of a tensor as PyTorch numbers them, `0:3`; `0:0` is that of all; empty: not reported. */
  pool: string;
}
export interface AllocationWindow {
  revision: number;
  total: number;
  rows: number;
  /** Without memory that other processes own. */
  sumBytes: number;
  address: BigUint64Array;
  bytes: Float64Array;
  device: Int32Array;
  /** Index of the process. */
  process: Int32Array;
  thread: Uint32Array;
  layer: Layer[];
  site: Uint32Array;
  timeNs: Float64Array;
  /** Handle; `STREAM_UNKNOWN`: not known. */
  stream: BigUint64Array;
  /** enum gmt_kind of native/wire. */
  kind: Uint8Array;
  /** The step in which it was allocated, from 1. */
  step: Float64Array;
  /** How many steps of its process have ended since. */
  ageSteps: Float64Array;
  category: Category[];
  /** `encoder.layers.3.linear1.weight`; empty if it has no name. */
  name: string[];
  /** Path of the module that has it or made it, `encoder.layers.3`; empty: none did, or it is not known. */
  module: string[];
  /** Requested bytes, of tensors; NaN: the framework’s allocator did not report them. */
  askedBytes: Float64Array;
  /** Pool of a tensor as PyTorch numbers them, `0:3`; `0:0` is that of all; empty: not reported. */
  pool: string[];
}
/** Row `i` of a window, which has it. */
export function allocationRow(window: AllocationWindow, i: number): AllocationRow {
  return {
    address: window.address[i]!,
    bytes: window.bytes[i]!,
    device: window.device[i]!,
    process: window.process[i]!,
    thread: window.thread[i]!,
    layer: window.layer[i]!,
    site: window.site[i]!,
    timeNs: window.timeNs[i]!,
    stream: window.stream[i]!,
    kind: window.kind[i]!,
    step: window.step[i]!,
    ageSteps: window.ageSteps[i]!,
    category: window.category[i]!,
    name: window.name[i]!,
    module: window.module[i]!,
    askedBytes: window.askedBytes[i]!,
    pool: window.pool[i]!,
  };
}
/** All rows of a window. */
export const allocationRows = (window: AllocationWindow): AllocationRow[] =>
  Array.from({ length: window.rows }, (_, i) => allocationRow(window, i));
export const NO_ALLOCATION_ROW: AllocationRow = {
    address: 0n,
    bytes: 0,
    device: 0,
    process: 0,
    thread: 0,
    layer: 'tensor',
    site: 0,
    timeNs: 0,
    stream: 0n,
    kind: 0,
    step: 0,
    ageSteps: 0,
    category: 'other',
    name: '',
    module: '',
    askedBytes: NaN,
    pool: '',
};
/** A window of these rows; of each, what is not named is nothing. */
export function allocationWindow(rows: readonly Partial<AllocationRow>[], head: Partial<AllocationWindow> = {}): AllocationWindow {
  const all = rows.map((row): AllocationRow => ({ ...NO_ALLOCATION_ROW, ...row }));
  return {
    revision: 1,
    total: all.length,
    rows: all.length,
    sumBytes: 0,
    address: BigUint64Array.from(all, row => row.address),
    bytes: Float64Array.from(all, row => row.bytes),
    device: Int32Array.from(all, row => row.device),
    process: Int32Array.from(all, row => row.process),
    thread: Uint32Array.from(all, row => row.thread),
    layer: all.map(row => row.layer),
    site: Uint32Array.from(all, row => row.site),
    timeNs: Float64Array.from(all, row => row.timeNs),
    stream: BigUint64Array.from(all, row => row.stream),
    kind: Uint8Array.from(all, row => row.kind),
    step: Float64Array.from(all, row => row.step),
    ageSteps: Float64Array.from(all, row => row.ageSteps),
    category: all.map(row => row.category),
    name: all.map(row => row.name),
    module: all.map(row => row.module),
    askedBytes: Float64Array.from(all, row => row.askedBytes),
    pool: all.map(row => row.pool),
    ...head,
  };
}

/** Allocations with their ends, roughly in the order of these; last those that are alive. Each array has `rows` entries. */
export interface LifetimeBatch {
  rows: number;
  /** Paths, each once; empty: of no module. */
  modules: string[];
  address: BigUint64Array;
  bytes: Float64Array;
  /** -1 for host memory. */
  device: Int32Array;
  process: Int32Array;
  /** Thread index within `process`. */
  thread: Int32Array;
  /** Index into `LAYERS`. */
  layer: Uint8Array;
  site: Uint32Array;
  beginNs: Float64Array;
  /** NaN: alive at the end of what was read. */
  endNs: Float64Array;
  /** Thread that freed it; -1: it is alive, or its free was not seen and its address was handed out again. */
  freeThread: Int32Array;
  stream: BigUint64Array;
  /** enum gmt_kind of native/wire. 23, an import: another process owns the memory, and `Totals` do not count it. */
  kind: Uint8Array;
  /** The step in which it was allocated, from 1, as far as steps were known when it ended. */
  stepBegin: Float64Array;
  /** Index into `CATEGORIES`. */
  category: Uint8Array;
  /** Index into `modules`: of the module that has it by name, else of the one that made it. */
  module: Uint32Array;
}

/** The live blocks in segments, in address order. */
export interface SegmentBlocks {
  rows: number;
  /** Blocks that `maxBlocks` or `segmentsLeftOut` left out; the columns of segments count them. */
  leftOut: number;
  leftOutBytes: number;
  /** Blocks of the framework that lie in no recorded segment. */
  outside: number;
  outsideBytes: number;
  /** Index into the segments. */
  segment: Uint32Array;
  /** From the segment’s begin. */
  offsetBytes: Float64Array;
  bytes: Float64Array;
  site: Uint32Array;
  ageSteps: Float64Array;
  /** Index into `CATEGORIES`. */
  category: Uint8Array;
}

/** One process’s memory on one device in address order, to be drawn. Each array has an entry a segment. */
export interface SegmentMap {
  revision: number;
  /** `framework`: what a caching allocator took from the driver, and its blocks in there. `driver`: no framework’s allocator was seen; the segments are the driver’s own allocations, and `blocks` is empty. */
  source: 'framework'|'driver';
  /** What they are; empty: not looked at. */
  pools: string[];
  /** At most 65,536 are here, the biggest; so many more are left out. */
  segmentsLeftOut: number;
  /** The live blocks in these segments. */
  blocks: SegmentBlocks;
  address: BigUint64Array;
  bytes: Float64Array;
  /** Bytes of live blocks in it; for `driver` all of it. */
  liveBytes: Float64Array;
  /** The longest run of bytes without a block. */
  largestGapBytes: Float64Array;
  /** 0n: the default stream, or not known. */
  stream: BigUint64Array;
  /** 1: put together from pieces that were mapped side by side ("expandable segments"), 0: taken in one piece. */
  mapped: Uint8Array;
  /** Who took it from the driver (of several pieces the first). */
  site: Uint32Array;
  /** Index into `pools`. */
  pool: Uint32Array;
}

/** The common axis of a process’s step series: n points, oldest first. Point i stands for the steps [first[i], last[i]], which have all ended: 1 step each for the newest, and 2, 4, 8, ... steps the further back. The same for every series of the process at one revision and with one `points`. */
export interface StepAxis {
  process: number;
  source: StepSource;
  /** Steps that have ended. */
  count: number;
  first: Float64Array;
  last: Float64Array;
  /** End of step last[i]. */
  endNs: Float64Array;
  /** Runs of Python’s collector on its oldest generation that ended in these steps. */
  fullCollections: Float64Array;
  /** Or of STEP_*: what is not known of these steps. */
  flags: Uint8Array;
}

/** Series of sites: row-major matrices, rows × axis points. liveBytes and liveCount hold at the end of step last[i]; the others are about the steps of the point. What happened since the last step’s end is in none of them. */
export interface SiteSeries extends StepAxis {
  total: number;
  rows: number;
  id: Uint32Array;
  /** -1 = several. */
  device: Int32Array;
  lineSource: LineSource[];
  /** Last step with an allocation, 0 = none; it may be the running step, count + 1. */
  lastAllocationStep: Float64Array;
  /** The greatest age of a block that was freed, in steps; 0: none outlived a whole step. */
  oldestFreedSteps: Uint32Array;
  /** Allocations that a framework’s caching allocator made for its segments: such a site follows the tensors. */
  segmentAllocations: Float64Array;
  /** What most of its live bytes are for now. */
  category: Category[];
  liveBytes: Float64Array;
  liveCount: Float64Array;
  minBytes: Float64Array;
  maxBytes: Float64Array;
  stepAllocations: Float64Array;
  stepAllocatedBytes: Float64Array;
  stepFrees: Float64Array;
  stepFreedBytes: Float64Array;
  /** Freed while Python’s collector ran on that thread. */
  gcFreedBytes: Float64Array;
  /** Of what was freed, the blocks that were older than the step before the one that ended them. */
  oldFreedBytes: Float64Array;
  /** Of liveCount, blocks that were born before step last[i] - 1. */
  oldLiveCount: Float64Array;
  oldLiveBytes: Float64Array;
  /** Biggest block allocated. */
  stepLargestBytes: Float64Array;
  /** Blocks that were allocated in these steps and were still alive at the end of the last step. */
  survivorCount: Float64Array;
  survivorBytes: Float64Array;
}

/** By axis point: bytes at the end of step last[i], and the most within the steps of the point. NaN: not known. */
export interface LedgerSeries extends StepAxis {
  device: number;
  tensorBytes: Float64Array;
  tensorMaxBytes: Float64Array;
  /** When that was reached first; NaN: when the steps began. */
  tensorMaxNs: Float64Array;
  reservedBytes: Float64Array;
  reservedMaxBytes: Float64Array;
  driverBytes: Float64Array;
  driverMaxBytes: Float64Array;
  /** Pinned memory of the process, whichever the device. */
  hostBytes: Float64Array;
  hostMaxBytes: Float64Array;
  /** By the device’s own account (NVML), as read last before the end: of this process. */
  processBytes: Float64Array;
  /** Of all processes. */
  usedBytes: Float64Array;
  /** What there is. */
  totalBytes: Float64Array;
  /** What the driver calls of the process held when that was read. */
  tracedBytes: Float64Array;
  /** Freed tensors whose blocks another stream still uses, as the framework’s allocator reported at an end of these steps. */
  pendingBytes: Float64Array;
}

/** A place in the program, as a stack names it. Line 0 and empty file: not known. */
export interface Frame {
  file: string;
  line: number;
  function: string;
}

export interface ThreadInfo {
  index: number;
  tid: number;
  name: string;
}

export interface Note {
  code: number;
  text: string;
}

export interface DeviceInfo {
  index: number;
  name: string;
  totalBytes: number;
}

export interface ProcessInfo {
  /** Index in `TraceInfo.processes`, stable for the session. */
  index: number;
  pid: number;
  parentPid: number;
  uid: number;
  /** Arguments. */
  command: string[];
  /** From the launcher or the log; null while it runs, or if no process waited for it. */
  exitCode: number|null;
  /** The process has ended, in order or not. */
  ended: boolean;
  startNs: number;
  /** '3.12', or null without Python. */
  python: string | null;
  driverSource: DriverSource;
  simulated: boolean;
  /** Recording is on. */
  recording: boolean;
  threads: ThreadInfo[];
  notes: Note[];
}

export interface Totals {
  process: number;
  pid: number;
  /** -1 for host memory. */
  device: number;
  layer: Layer;
  liveBytes: number;
  liveCount: number;
  peakBytes: number;
  peakNs: number;
  allocations: number;
  frees: number;
  failed: number;
  allocatedBytes: number;
  freedBytes: number;
  /** Frees of addresses that were never seen allocated. */
  unmatchedFrees: number;
  /** Live allocations whose address was handed out again. */
  impliedFrees: number;
  /** Of the driver’s allocations and frees, those of a framework’s caching allocator: here, and in `segmentFrees`. */
  segmentAllocations: number;
  segmentFrees: number;
}

/** The framework’s segments on one device but for those of private pools, and what lies in them. */
export interface Fragmentation {
  segments: number;
  segmentBytes: number;
  /** Segments that hold both a live block and a gap. */
  partlyUsedSegments: number;
  /** Of free bytes, those in segments without any live block: PyTorch can give them back. */
  emptyBytes: number;
  /** In all segments. */
  freeBytes: number;
  /** The longest gap. */
  largestFreeBytes: number;
}

/** A pool of the framework’s allocator on a device; listed if there is one beside the common one. */
export interface Pool {
  process: number;
  device: number;
  kind: PoolKind;
  /** Graphs, or MemPools, that still have it. */
  makers: number;
  /** As PyTorch numbers it, `0:3`; empty: not known. */
  id: string;
  /** What it is, with a path to one of these. */
  label: string;
  segments: number;
  reservedBytes: number;
  liveBytes: number;
  /** Who took its biggest segment from the driver. */
  site: number;
}

export interface CategorySum {
  category: Category;
  bytes: number;
  count: number;
}

/** Live bytes of the tensor layer by what they are for. */
export interface CategoryBytes extends CategorySum {
  process: number;
  device: number;
}

export interface SnapshotSite {
  site: number;
  liveBytes: number;
  liveCount: number;
  /** Step of its oldest live block. */
  oldestStep: number;
  /** Live bytes now less those at the end of the last step. */
  grownBytes: number;
  /** Of the live bytes, those that wait for a backward pass. */
  activationBytes: number;
  /** Allocated in the running step. */
  stepAllocatedBytes: number;
  /** The mean of up to 8 steps before it. */
  usualAllocatedBytes: number;
}

/** Memory of one process on one device at one moment. null: not known. */
export interface MemorySnapshot {
  /** The step that was running, from 1. */
  step: number;
  tensorBytes: number;
  reservedBytes: number | null;
  driverBytes: number;
  /** By the device’s own account (NVML), as it was read last. */
  processBytes: number | null;
  usedBytes: number | null;
  totalBytes: number | null;
  /** driverBytes when that was read. */
  tracedBytes: number | null;
  /** Without what lies in private pools. */
  fragmentation: Fragmentation;
  pools: Pool[];
  /** Gradients that an earlier step made. */
  oldGradientBytes: number;
  categories: CategorySum[];
  /** Of the layer that failed (tensors where there are any), biggest first, up to 50. */
  sites: SnapshotSite[];
}

export interface OutOfMemory {
  process: number;
  device: number;
  layer: Layer;
  requestedBytes: number;
  timeNs: number;
  site: number;
  liveBytes: number;
  thread: number;
  /** Of the device, if the allocator reported it with the failure; else null. */
  freeBytes: number | null;
  /** Only of the first failures and the newest: what memory looked like at that moment. */
  snapshot: MemorySnapshot | null;
}

/** Steps of one process are numbered from 1. The first holds everything before the first end. */
export interface ProcessSteps {
  process: number;
  source: StepSource;
  /** Steps that have ended. */
  count: number;
  /** End of the last one, 0 without one. */
  lastEndNs: number;
  /** False while rounds of a loop ('periodic') may be those of a set-up, such as building a model layer by layer. */
  sure: boolean;
  /** Rounds of a loop ('periodic') in which one line alone allocates, as where weights are loaded. */
  alone: boolean;
  /** Rounds of a loop ('periodic') without a backward pass, of a program that has some: they may be parts of a step. */
  parts: boolean;
  /** Of a loop (periodic) of a program that has ended: how long it worked behind it without an event; else 0. */
  idleNs: number;
  /** Until when it is known which pool has which memory (that of captured graphs, say): all until now where none was taken since; 0: never listed. */
  poolsNs: number;
  /** Of the ended steps, those in which events are missing (see StepAxis.flags). */
  touched: number;
}

/** Nothing was recorded ('recording'), or nothing of the driver layer ('driver'). */
export interface Pause {
  process: number;
  kind: 'recording'|'driver';
  beginNs: number;
  /** null: it lasts. */
  endNs: number | null;
}

/** A range that the program names itself: of NVTX, or an annotation of a memory snapshot. */
export interface NamedRange {
  beginNs: number;
  /** null: not over yet. */
  endNs: number | null;
  /** Index within the process; of a snapshot 0, whichever it was. */
  thread: number;
  name: string;
}

export interface AnswerInfo {
  process: number;
  /** Names the answer within its process; rises. */
  index: number;
  /** 0: without a request; then there may be several. */
  request: number;
  /** Of the event behind which it was found. */
  timeNs: number;
  /** False while parts are missing. */
  complete: boolean;
}

/** A block by its address, alive or freed since the end of the last step (then without its time). */
export interface BlockFacts {
  address: bigint;
  /** False: there is no such block. The rest is then 0. */
  known: boolean;
  alive: boolean;
  bytes: number;
  site: number;
  device: number;
  step: number;
  timeNs: number;
}

export interface Answer extends AnswerInfo {
  /** JSON as the agent wrote it; empty while parts are missing. */
  text: string;
  /** The tensors whose addresses stand in the text, as they were when it was read. */
  blocks: BlockFacts[];
}

/** A stack that frees blocks of a site. */
export interface FreeLine {
  /** Frees seen with this stack; of tensors only a sample of a thread’s frees has stacks. */
  count: number;
  /** Step of the last one, from 1. */
  lastStep: number;
  frames: Frame[];
  userFrame: number;
}

export interface Site {
  /** Names the site within one session. Two sessions over one trace (one of them up to a moment, say) number the sites of a single process alike; with several processes they may not: compare `process` and `key` then. */
  id: number;
  /** 16 hexadecimal digits, the same for the same stack content, layer and source in every process, session and trace. All zero while the stack is not known yet. */
  key: string;
  layer: Layer;
  source: LineSource;
  /** Of its allocations. `evaluation` is no site’s: only a whole pass shows that. */
  pass: Pass;
  /** Deeper than the recorded 128 frames. */
  cut: boolean;
  /** Innermost first. */
  frames: Frame[];
  /** Index of the first frame outside the standard library and site-packages, -1 = none. */
  userFrame: number;
  /** Path of the library, or the program, that called the driver; empty: not known, or not of the driver. */
  library: string;
}

export interface TraceInfo {
  /** Rises with each batch of events; equal numbers mean that nothing changed. */
  revision: number;
  /** False once every process ended and all was read. */
  live: boolean;
  events: number;
  durationNs: number;
  startRealtimeMs: number;
  /** Of some causes no event is missing, but its stack or a name. */
  lost: { events: number; byCause: Record<string, number> };
  /** The launcher left it (empty object when absent). */
  session: Record<string, unknown>;
  processes: ProcessInfo[];
  devices: DeviceInfo[];
  totals: Totals[];
  /** The first failures and the newest. */
  outOfMemory: OutOfMemory[];
  /** All of them. */
  outOfMemoryCount: number;
  /** One entry a process with events. */
  steps: ProcessSteps[];
  pauses: Pause[];
  categories: CategoryBytes[];
  /** What the agent answered; `TraceSource.answer` gives the text. */
  answers: AnswerInfo[];
}

export interface SiteQuery {
  layer: Layer;
  groupBy: GroupBy;
  sort: SiteSort;
  descending: boolean;
  /** Words, all must match, capitals or not: text in file, function, thread name, device, or in the name or category of a live block of the site; `>10MB`, `<=1GB` on the row’s live bytes; `age>5steps`, `age<=2`: only blocks of that age count, as with bornFromNs. Empty = all. */
  filter?: string;
  process?: number;
  device?: number;
  /** Also sites that hold nothing now. */
  includeDead?: boolean;
  /** Only blocks that were allocated in [bornFromNs, bornToNs) count. Of sites, live bytes and blocks are theirs alone, rows without any are left out (but with `includeDead`), and the rest of a row stays that of the whole site. Absent: no bound. */
  bornFromNs?: number;
  bornToNs?: number;
  /** Only tensors that are for this count, as with bornFromNs. */
  category?: Category;
  /** Window of rows [from, to). */
  from: number;
  to: number;
}

export interface AllocationQuery {
  layer?: Layer;
  process?: number;
  device?: number;
  thread?: number;
  site?: number;
  /** The block there alone; `0x…` or decimal. */
  address?: string;
  /** As SiteQuery.filter, but about one block: its bytes, its age, its name and category. */
  filter?: string;
  /** Only blocks that were allocated in [bornFromNs, bornToNs) count. Of sites, live bytes and blocks are theirs alone, rows without any are left out (but with `includeDead`), and the rest of a row stays that of the whole site. Absent: no bound. */
  bornFromNs?: number;
  bornToNs?: number;
  sort: AllocationSort;
  descending: boolean;
  /** Window of rows [from, to). */
  from: number;
  to: number;
}

export interface TimelineQuery {
  series: Series;
  process?: number;
  device?: number;
  fromNs: number;
  toNs: number;
  /** At most this many buckets come back, fewer where there are fewer changes. */
  buckets: number;
}

export interface SiteSeriesQuery {
  process: number;
  layer: Layer;
  /** Only these, in this order; absent: all that ever had an event, most live bytes at the end of the last step first. */
  sites?: number[];
  /** Window of rows [from, to). */
  from: number;
  to: number;
  /** At most this many points an axis (16 to 2048); steps are merged further. */
  points: number;
}

export interface LedgerSeriesQuery {
  process: number;
  device: number;
  /** At most this many points an axis (16 to 2048); steps are merged further. */
  points: number;
}

export interface PassQuery {
  process: number;
  fromNs: number;
  toNs: number;
  /** Shorter ranges are left out. */
  leastNs?: number;
}

export interface SegmentQuery {
  process: number;
  device: number;
  /** At most so many blocks come back, the biggest; absent: 100,000. */
  maxBlocks?: number;
}

export interface DeviceQuery {
  process: number;
  device: number;
}

export interface BlocksQuery {
  process: number;
  addresses: bigint[];
}

export interface AnswerQuery {
  process: number;
  index: number;
}
