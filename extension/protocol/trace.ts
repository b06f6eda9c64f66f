// What is known of a trace: the data that travels from the native model to the command line, the views and the page.
// Every query answers a window. Sizes are bytes, times are nanoseconds since the session's first process began (`number`:
// exact to 2^53). 64-bit addresses travel as bigint.

import type {
  AllocationSort,
  AllocationWindow,
  Category,
  DriverSource,
  GroupBy,
  Layer,
  LedgerSeries,
  LineSource,
  SegmentMap,
  Series,
  SiteSeries,
  SiteSort,
  SiteWindow,
} from './answers.gen';
import { LAYERS } from './answers.gen';
import type { Frame } from './frame';
import type {
  Answer,
  AnswerInfo,
  BlockFacts,
  CategoryBytes,
  Fragmentation,
  FreeLine,
  LedgerSeriesQuery,
  MemorySnapshot,
  Pause,
  ProcessSteps,
  SiteSeriesQuery,
  ThreadHabit,
} from './steps';

export * from './answers.gen';
export type { Frame } from './frame';
export interface ThreadInfo {
  index: number;
  tid: number;
  name: string;
}
export interface Note {
  code: number;
  text: string;
}

export interface ProcessInfo {
  /** Index in `TraceInfo.processes`, stable for the session. */
  index: number;
  pid: number;
  parentPid: number;
  uid: number;
  /** Arguments. */
  command: string[];
  /** By what the launcher or the log knows; null while it runs or where nobody waited for it. */
  exitCode: number | null;
  /** The process has ended, in order or not. */
  ended: boolean;
  startNs: number;
  /** '3.12', or null without Python. */
  python: string | null;
  driverSource: DriverSource;
  simulated: boolean;
  /** 1 while recording is on. */
  recording: boolean;
  threads: ThreadInfo[];
  notes: Note[];
}
export interface DeviceInfo {
  index: number;
  name: string;
  totalBytes: number;
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
  /** Frees of addresses that were never seen allocated, and live allocations whose address was handed out again. */
  unmatchedFrees: number;
  impliedFrees: number;
  /** Of the driver's allocations and frees, those of a framework's caching allocator. */
  segmentAllocations: number;
  segmentFrees: number;
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
  /** Only of the first failures and the newest: what memory looked like at that moment. */
  snapshot: MemorySnapshot | null;
}
export interface TraceInfo {
  /** Rises with each batch of events; equal numbers mean that nothing changed. */
  revision: number;
  /** False once every process ended and all was read. */
  live: boolean;
  events: number;
  eventsPerSecond: number;
  durationNs: number;
  startRealtimeMs: number;
  /** Of some causes no event is missing, but its stack or a name. */
  lost: { events: number; byCause: Record<string, number> };
  /** JSON the launcher left (empty object when absent). */
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
  habits: ThreadHabit[];
  /** What the agent answered; `TraceSource.answer` gives the text. */
  answers: AnswerInfo[];
}

export interface Site {
  /**
   * Names the site within one session. Two sessions over one trace (one of them up to a moment, say) number the sites of a
   * single process alike; with several processes they may not: compare `process` and `key` then.
   */
  id: number;
  /**
   * 16 hexadecimal digits, the same for the same stack content, layer and source in every process, session and trace. All
   * zero while the stack is not known yet.
   */
  key: string;
  layer: Layer;
  source: LineSource;
  /** Deeper than the recorded 128 frames. */
  cut: boolean;
  /** Innermost first. */
  frames: Frame[];
  /** Index of the first frame outside the standard library and site-packages, -1 = none. */
  userFrame: number;
  /** Path of the library, or the program, that called the driver; empty: not known, or not of the driver. */
  library: string;
}

export interface SiteQuery {
  layer: Layer;
  groupBy: GroupBy;
  sort: SiteSort;
  descending: boolean;
  /**
   * Words, all must match, capitals or not: text in file, function, thread name, device, or in the name or category of a
   * live block of the site; `>10MB`, `<=1GB` on the row's live bytes; `age>5steps`, `age<=2`: only blocks of that age count, as
   * with bornFromNs. Empty = all.
   */
  filter?: string;
  /** -1 or absent = all. */
  process?: number;
  device?: number;
  /** Also sites that hold nothing now. */
  includeDead?: boolean;
  /**
   * Only blocks that were allocated in [bornFromNs, bornToNs) count: live bytes and blocks are theirs alone, rows without any
   * are left out (but with `includeDead`), and the rest of a row stays that of the whole site. Absent: no bound.
   */
  bornFromNs?: number;
  bornToNs?: number;
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
  category?: Category;
  /** As SiteQuery.filter, but about one block: its bytes, its age, its name and category. */
  filter?: string;
  /** Only blocks that were allocated in [bornFromNs, bornToNs). */
  bornFromNs?: number;
  bornToNs?: number;
  sort: AllocationSort;
  descending: boolean;
  from: number;
  to: number;
}
/** The segments of a device with what lies in them, to be drawn. */
export interface SegmentQuery {
  process: number;
  device: number;
  /** At most so many blocks come back, the biggest; absent: 100,000. */
  maxBlocks?: number;
}
export interface TimelineQuery {
  series: Series;
  /** -1 or absent = sum over all. */
  process?: number;
  device?: number;
  fromNs: number;
  toNs: number;
  /** At most this many buckets come back, fewer where there are fewer changes. */
  buckets: number;
}
/** 4 numbers a bucket: time of its begin (ns), min, max and last bytes in it. Buckets without an event are left out. */
export type Timeline = Float64Array;

/** The layer that is shown first: tensors where a framework reported any, else the driver's allocations, else pinned memory. */
export function listedLayer(totals: readonly Pick<Totals, 'layer' | 'allocations'>[]): Layer {
  return LAYERS.find(layer => totals.some(total => total.layer === layer && total.allocations > 0)) ?? 'tensor';
}

/** What a trace answers, live or saved. */
export interface TraceSource {
  info(): TraceInfo;
  sites(query: SiteQuery): SiteWindow;
  /** null: no such site. */
  site(id: number): Site | null;
  allocations(query: AllocationQuery): AllocationWindow;
  timeline(query: TimelineQuery): Timeline;
  siteSeries(query: SiteSeriesQuery): SiteSeries;
  ledgerSeries(query: LedgerSeriesQuery): LedgerSeries;
  /** The stacks that free a site's blocks, most frequent first, at most 16. */
  freeLines(site: number): FreeLine[];
  fragmentation(query: { process: number; device: number }): Fragmentation;
  segments(query: SegmentQuery): SegmentMap;
  /** Blocks of the tensor layer, one entry an address, in the order asked. */
  blocks(query: { process: number; addresses: bigint[] }): BlockFacts[];
  /** null: no such answer. */
  answer(query: { process: number; index: number }): Answer | null;
}
