// What is known of a trace: the data that travels from the native model to the command line, the views and the page.
// Every query answers a window. Sizes are bytes, times are nanoseconds since the session's first process began (`number`:
// exact to 2^53). 64-bit addresses travel as bigint.

import type {
  AllocationSort,
  AllocationWindow,
  Answer,
  BlockFacts,
  Category,
  Fragmentation,
  FreeLine,
  GroupBy,
  Layer,
  LineSource,
  LedgerSeries,
  NamedRange,
  Pool,
  SegmentMap,
  Series,
  Site,
  SiteSeries,
  SiteSort,
  SiteWindow,
  Totals,
  TraceInfo,
} from './answers.gen';
import { LAYERS } from './answers.gen';
import type { LedgerSeriesQuery, SiteSeriesQuery } from './steps';

export * from './answers.gen';
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
/** The passes, or ranges, of a process in [fromNs, toNs). */
export interface PassQuery {
  process: number;
  fromNs: number;
  toNs: number;
  /** Shorter ranges are left out. */
  leastNs?: number;
}
/**
 * 2 numbers a pass: time of its begin (ns), index into `PASSES`. Each goes on until the next begins, and the first one may have begun
 * before `fromNs`. The newest 4,096 of a process are kept; a pass that allocates no tensor is not seen.
 */
export type PassBegins = Float64Array;
/** 4 numbers a bucket: time of its begin (ns), min, max and last bytes in it. Buckets without an event are left out. */
export type Timeline = Float64Array;

/** The layer that is shown first: tensors where a framework reported any, else the driver's allocations, else pinned memory. */
export function listedLayer(totals: readonly Pick<Totals, 'layer' | 'allocations'>[]): Layer {
  return LAYERS.find(layer => totals.some(total => total.layer === layer && total.allocations > 0)) ?? 'tensor';
}

/** Whether what was allocated in a backward pass is shown at another line than the one that ran. */
export function isOfBackward(source: LineSource): boolean {
  return source === 'forward' || source === 'forward-near' || source === 'backward-call';
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
  passes(query: PassQuery): PassBegins;
  /** By their begins, the outer one first; the newest 1,024 of each of four levels are kept. */
  ranges(query: PassQuery): NamedRange[];
  /** The stacks that free a site's blocks, most frequent first, at most 16. */
  freeLines(site: number): FreeLine[];
  fragmentation(query: { process: number; device: number }): Fragmentation;
  /** Of the framework's allocator, where it has others than the common one. */
  pools(): Pool[];
  segments(query: SegmentQuery): SegmentMap;
  /** Blocks of the tensor layer, one entry an address, in the order asked. */
  blocks(query: { process: number; addresses: bigint[] }): BlockFacts[];
  /** null: no such answer. */
  answer(query: { process: number; index: number }): Answer | null;
}
