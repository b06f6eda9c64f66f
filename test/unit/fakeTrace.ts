// A trace made of plain rows, for tests of what is built from answers of the native model.
import {
  allocationWindow,
  type Answer,
  type BlockFacts,
  type Fragmentation,
  type FreeLine,
  type LedgerSeries,
  type LedgerSeriesQuery,
  type NamedRange,
  type SiteSeries,
  type SiteSeriesQuery,
  siteWindow,
} from '../../extension/protocol/trace';
import type {
  AllocationQuery,
  AllocationWindow,
  Layer,
  ProcessInfo,
  SegmentMap,
  SegmentQuery,
  Site,
  SiteQuery,
  SiteWindow,
  Pool,
  Timeline,
  TimelineQuery,
  Totals,
  TraceInfo,
  TraceSource,
} from '../../extension/protocol/trace';
import { STREAM_UNKNOWN } from '../../extension/protocol/streams';

export interface FakeAllocation {
  address: bigint;
  bytes: number;
  process: number;
  thread: number;
  layer: Layer;
  site: number;
  timeNs: number;
  device: number;
  /** What the framework’s allocator reports of the block, if anything. */
  extras?: { askedBytes: number; stream: bigint; pool: string };
}

export function makeProcess(part: Partial<ProcessInfo>): ProcessInfo {
  return {
    index: 0,
    pid: 2166793,
    parentPid: 1,
    uid: 0,
    command: ['python', 'train.py'],
    exitCode: null,
    ended: false,
    startNs: 0,
    python: '3.12',
    driverSource: 'cupti',
    simulated: false,
    recording: true,
    threads: [{ index: 0, tid: 2166793, name: 'python' }],
    notes: [],
    ...part,
  };
}

export function makeTotals(part: Partial<Totals>): Totals {
  return {
    process: 0,
    pid: 2166793,
    device: 0,
    layer: 'tensor',
    liveBytes: 0,
    liveCount: 0,
    peakBytes: 0,
    peakNs: 0,
    allocations: 0,
    frees: 0,
    failed: 0,
    allocatedBytes: 0,
    freedBytes: 0,
    unmatchedFrees: 0,
    impliedFrees: 0,
    segmentAllocations: 0,
    segmentFrees: 0,
    ...part,
  };
}

export function makeInfo(part: Partial<TraceInfo>): TraceInfo {
  return {
    revision: 1,
    live: true,
    events: 0,
    durationNs: 10e9,
    startRealtimeMs: Date.UTC(2025, 7, 25, 8, 45, 33),
    lost: { events: 0, byCause: {} },
    session: {},
    processes: [],
    devices: [],
    totals: [],
    outOfMemory: [],
    outOfMemoryCount: part.outOfMemory?.length ?? 0,
    steps: [],
    pauses: [],
    categories: [],
    answers: [],
    ...part,
  };
}

/** Answers queries as the native model does, as far as table and report ask. */
export class FakeTrace implements TraceSource {
  constructor(
    private readonly trace: TraceInfo,
    private readonly all: FakeAllocation[] = [],
    private readonly stacks: Site[] = [],
    /** By process; a number: whichever. */
    private readonly reserved: number | readonly number[] | null = null,
  ) {}

  info(): TraceInfo {
    return this.trace;
  }

  site(id: number): Site | null {
    return this.stacks.find(site => site.id === id) ?? null;
  }

  allocations(query: AllocationQuery): AllocationWindow {
    const matching = this.all
      .filter(row => query.layer === undefined || row.layer === query.layer)
      .filter(row => query.process === undefined || row.process === query.process)
      .filter(row => query.thread === undefined || row.thread === query.thread)
      .sort((a, b) => b.bytes - a.bytes);
    const rows = matching.slice(query.from, query.to);
    return allocationWindow(
      rows.map(({ extras, ...row }) => ({
        ...row,
        stream: STREAM_UNKNOWN,
        askedBytes: NaN,
        step: 1,
        category: 'unnamed',
        ...extras,
      })),
      { total: matching.length, sumBytes: matching.reduce((sum, row) => sum + row.bytes, 0) },
    );
  }

  sites(query: SiteQuery): SiteWindow {
    const rows = this.stacks
      .filter(site => site.layer === query.layer)
      .map(site => ({ site, live: this.all.filter(row => row.site === site.id) }))
      .filter(({ live }) => query.includeDead === true || live.length > 0)
      .map(({ site, live }) => ({ site, count: live.length, bytes: live.reduce((sum, row) => sum + row.bytes, 0) }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(query.from, query.to);
    return siteWindow(
      rows.map(({ site, count, bytes }) => ({
        ...site,
        ...(site.frames[0] ?? {}),
        process: 0,
        thread: 0,
        device: 0,
        liveBytes: bytes,
        liveCount: count,
        peakBytes: bytes,
        allocations: count,
        allocatedBytes: bytes,
        growth: site.id === 1 ? 1_258_291.2 : 0,
        label: `group ${site.id}`,
      })),
    );
  }

  siteSeries(_query: SiteSeriesQuery): SiteSeries {
    throw new Error('This fake trace has no step series.');
  }
  ledgerSeries(_query: LedgerSeriesQuery): LedgerSeries {
    throw new Error('This fake trace has no step series.');
  }
  passes(): Float64Array {
    return new Float64Array();
  }
  ranges(): NamedRange[] {
    return [];
  }
  freeLines(_site: number): FreeLine[] {
    return [];
  }
  fragmentation(): Fragmentation {
    return {
      segments: 0,
      segmentBytes: 0,
      partlyUsedSegments: 0,
      emptyBytes: 0,
      freeBytes: 0,
      largestFreeBytes: 0,
    };
  }
  pools(): Pool[] {
    return [];
  }
  segments(_query: SegmentQuery): SegmentMap {
    throw new Error('This fake trace has no segments.');
  }
  blocks(_query: { process: number; addresses: bigint[] }): BlockFacts[] {
    return [];
  }
  answer(_query: { process: number; index: number }): Answer | null {
    return null;
  }

  timeline(query: TimelineQuery): Timeline {
    if (query.series !== 'reserved' || this.reserved === null) return new Float64Array();
    const own = typeof this.reserved === 'number' ? [this.reserved] : this.reserved;
    const chosen = typeof this.reserved === 'number' ? undefined : query.process;
    const bytes = own.reduce((sum, part, process) => sum + (process === (chosen ?? process) ? part : 0), 0);
    return Float64Array.of(0, 0, bytes, bytes);
  }
}

export function makeSite(part: Partial<Site> & { id: number }): Site {
  const key = part.id.toString(16).padStart(16, '0');
  return {
    key,
    layer: 'tensor',
    source: 'python',
    pass: 'other',
    cut: false,
    frames: [],
    userFrame: -1,
    library: '',
    ...part,
  };
}
