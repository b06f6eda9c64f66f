// Memory by training step: what verdicts are made of. Steps of a process are numbered from 1; sizes are bytes, times are
// nanoseconds of the session, as in trace.ts.
import type { Category, Layer, LineSource, StepSource } from './answers.gen';
import type { Frame } from './trace';

export { CATEGORIES, type Category, type StepSource } from './answers.gen';

/** Memory of one process on one device at one moment. null: not known. */
export interface MemorySnapshot {
  /** The step that was running, from 1. */
  step: number;
  tensorBytes: number;
  reservedBytes: number | null;
  driverBytes: number;
  /** By the device's own account (NVML), as it was read last. */
  processBytes: number | null;
  usedBytes: number | null;
  totalBytes: number | null;
  fragmentation: Fragmentation;
  /** Live bytes by age: allocated in the running step, in the 8 steps before it, earlier. */
  thisStepBytes: number;
  recentBytes: number;
  olderBytes: number;
  categories: { category: Category; bytes: number; count: number }[];
  /** Of the layer that failed (tensors where there are any), biggest first, up to 50. */
  sites: SnapshotSite[];
}
export interface SnapshotSite {
  site: number;
  liveBytes: number;
  liveCount: number;
  /** Step of its oldest live block. */
  oldestStep: number;
  /** Live bytes now less those at the end of the last step. */
  grownBytes: number;
  /** Allocated in the running step, and the mean of up to 8 steps before it. */
  stepAllocatedBytes: number;
  usualAllocatedBytes: number;
}
/** The framework's segments on one device, and what lies in them. */
export interface Fragmentation {
  segments: number;
  segmentBytes: number;
  /** Segments that hold both a live block and a gap; without any live block. */
  partlyUsedSegments: number;
  emptySegments: number;
  /** In all segments. */
  freeBytes: number;
  /** The longest gap. */
  largestFreeBytes: number;
}

/** Steps of one process are numbered from 1. The first holds everything before the first end. */
export interface ProcessSteps {
  process: number;
  source: StepSource;
  /** Steps that have ended. */
  count: number;
  /** End of the last one, 0 without one. */
  lastEndNs: number;
  /** Width of a slice ('time'), else null. */
  sliceNs: number | null;
  /** The site whose allocation begins a step ('periodic'), else null. */
  anchorSite: number | null;
  /** Of the ended steps, those in which events are missing (see StepAxis.flags). */
  touched: number;
}
/** Nothing was recorded ('recording'), or nothing of the driver layer ('driver'). */
export interface Pause {
  process: number;
  kind: 'recording' | 'driver';
  beginNs: number;
  /** null: it lasts. */
  endNs: number | null;
  /** The step that was running when it began, and when it ended. */
  beginStep: number;
  endStep: number | null;
}
/** Live bytes of the tensor layer by what they are for. */
export interface CategoryBytes {
  process: number;
  device: number;
  category: Category;
  bytes: number;
  count: number;
}
/** The sizes that a thread allocates on a layer. */
export interface ThreadHabit {
  process: number;
  thread: number;
  layer: Layer;
  allocations: number;
  /** Running estimate, right to about 5 %. */
  medianBytes: number;
  largestBytes: number;
  largestNs: number;
  largestSite: number;
}
export interface AnswerInfo {
  process: number;
  /** Names the answer within its process; rises. */
  index: number;
  /** 0: nobody asked; then there may be several. */
  request: number;
  /** Of the event behind which it was found. */
  timeNs: number;
  /** False while parts are missing. */
  complete: boolean;
  bytes: number;
}
/**
 * The common axis of a process's step series: n points, oldest first. Point i stands for the steps [first[i], last[i]], which
 * have all ended: 1 step each for the newest, and 2, 4, 8, ... steps the further back. The same for every series of the
 * process at one revision and with one `points`.
 */
export interface StepAxis {
  revision: number;
  process: number;
  source: StepSource;
  /** Steps that have ended. */
  count: number;
  first: Float64Array;
  last: Float64Array;
  /** End of step last[i]. */
  endNs: Float64Array;
  /** Runs of Python's collector that ended in these steps, and those of its oldest generation. */
  collections: Float64Array;
  fullCollections: Float64Array;
  /** Or of STEP_*: what is not known of these steps. */
  flags: Uint8Array;
}
/** Recording was off for a part of the step. */
export const STEP_PAUSED = 1;
/** The driver layer was blind for a part of it. */
export const STEP_DRIVER_GAP = 2;
/** Events are missing in it. */
export const STEP_LOST_EVENTS = 4;

export interface SiteSeriesQuery {
  process: number;
  layer: Layer;
  /** Only these, in this order; absent: all that ever had an event, most live bytes at the end of the last step first. */
  sites?: number[];
  /** Window of rows [from, to). */
  from: number;
  to: number;
  /** At most this many points an axis (16 to 2048); steps are merged further where there are more. */
  points: number;
}
/**
 * Series of sites: row-major matrices, rows × axis points. liveBytes and liveCount hold at the end of step last[i]; the others
 * are about the steps of the point. What happened since the last step's end is in none of them.
 */
export interface SiteSeries extends StepAxis {
  total: number;
  rows: number;
  /** By row. */
  id: Uint32Array;
  /** -1 = several. */
  thread: Int32Array;
  device: Int32Array;
  lineSource: LineSource[];
  /** First step with an event; last step with an allocation, with a free (0 = none). May be the running step, count + 1. */
  firstStep: Float64Array;
  lastAllocationStep: Float64Array;
  lastFreeStep: Float64Array;
  /** Allocations that a framework's caching allocator made for its segments: such a site follows the tensors. */
  segmentAllocations: Float64Array;
  /** All allocations so far, the running step's too: how many, the usual size (the
   * median over steps of the mean in a step without its biggest one, right to about 5 %), the biggest and its step. */
  allocations: Float64Array;
  medianBytes: Float64Array;
  largestBytes: Float64Array;
  largestStep: Float64Array;
  /** What most of its live bytes are for now, and how many bytes those are. */
  category: Category[];
  categoryBytes: Float64Array;
  /** rows × points. */
  liveBytes: Float64Array;
  liveCount: Float64Array;
  minBytes: Float64Array;
  maxBytes: Float64Array;
  stepAllocations: Float64Array;
  stepAllocatedBytes: Float64Array;
  stepFrees: Float64Array;
  stepFreedBytes: Float64Array;
  /** Freed while Python's collector ran on that thread. */
  gcFrees: Float64Array;
  gcFreedBytes: Float64Array;
  /** Of the frees, those of blocks that were older than the step before the one that ended them. */
  oldFrees: Float64Array;
  oldFreedBytes: Float64Array;
  /** Of liveCount and liveBytes, blocks that were born before step last[i] - 1. */
  oldLiveCount: Float64Array;
  oldLiveBytes: Float64Array;
  /** Biggest block allocated. */
  stepLargestBytes: Float64Array;
  /** Blocks that were allocated in these steps and were still alive at the end of the last step. */
  survivorCount: Float64Array;
  survivorBytes: Float64Array;
  /** False: so many blocks were freed since the last step's end that survivors are those of now. */
  survivorsAtStepEnd: boolean;
}

export interface LedgerSeriesQuery {
  process: number;
  device: number;
  points: number;
}
/** By axis point: bytes at the end of step last[i], and the most within the steps of the point. NaN: not known. */
export interface LedgerSeries extends StepAxis {
  device: number;
  tensorBytes: Float64Array;
  tensorMaxBytes: Float64Array;
  reservedBytes: Float64Array;
  reservedMaxBytes: Float64Array;
  driverBytes: Float64Array;
  driverMaxBytes: Float64Array;
  /** Pinned memory of the process, whichever the device. */
  hostBytes: Float64Array;
  hostMaxBytes: Float64Array;
  /** By the device's own account (NVML), as read last before the end: of this process; of all; what there is. */
  processBytes: Float64Array;
  usedBytes: Float64Array;
  totalBytes: Float64Array;
  /** Freed tensors whose blocks another stream still uses, as the framework's allocator said at an end of these steps. */
  pendingBytes: Float64Array;
}

/** A stack that frees blocks of a site. */
export interface FreeLine {
  /** Frees seen with this stack; of tensors only a sample of a thread's frees has stacks. */
  count: number;
  /** Step of the last one, from 1. */
  lastStep: number;
  frames: Frame[];
  userFrame: number;
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
