// Memory by training step: what verdicts are made of. Steps of a process are numbered from 1; sizes are bytes, times are
// nanoseconds of the session, as in trace.ts.
import type { Category, Layer, StepSource } from './answers.gen';
import type { Frame } from './frame';

export { CATEGORIES } from './answers.gen';
export type { Category, LedgerSeries, SiteSeries, StepAxis, StepSource } from './answers.gen';

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
export interface LedgerSeriesQuery {
  process: number;
  device: number;
  points: number;
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
