// A run made of plain blocks: allocations and frees in steps. Gives the step series that the native model would give.
import type { Category, Layer } from '../../../extension/protocol/trace';
import type { LineSource, SiteSeries, SiteSeriesQuery, StepAxis, StepSource } from '../../../extension/protocol/trace';

export interface Block {
  site: number;
  bytes: number;
  /** Step of its birth, from 1. */
  step: number;
  address: bigint;
}
export interface SiteFacts {
  layer: Layer;
  thread: number;
  device: number;
  lineSource: LineSource;
  category: Category;
  segments: boolean;
  /** Path of the library that called the driver. */
  library: string;
}
interface Counts {
  allocations: number;
  allocatedBytes: number;
  frees: number;
  freedBytes: number;
  gcFreedBytes: number;
  oldFreedBytes: number;
  largest: number;
  oldest: number;
}
interface StepRecord extends Counts {
  liveBytes: number;
  liveCount: number;
  minBytes: number;
  maxBytes: number;
  oldLiveBytes: number;
  oldLiveCount: number;
}
interface SiteRun extends SiteFacts {
  id: number;
  records: (StepRecord | undefined)[];
  now: Counts;
  liveBytes: number;
  minBytes: number;
  maxBytes: number;
  live: Set<Block>;
  /** Freed since the last step's end. */
  tail: Block[];
  firstStep: number;
  lastAllocationStep: number;
}

type Matrices = Pick<
  SiteSeries,
  'liveBytes' | 'liveCount' | 'oldLiveBytes' | 'oldLiveCount' | 'minBytes' | 'maxBytes'
> &
  Pick<
    SiteSeries,
    | 'stepAllocations'
    | 'stepAllocatedBytes'
    | 'stepFrees'
    | 'stepFreedBytes'
    | 'stepLargestBytes'
    | 'oldLiveCount'
    | 'oldLiveBytes'
  > &
  Pick<SiteSeries, 'gcFreedBytes' | 'oldFreedBytes' | 'survivorCount' | 'survivorBytes'>;

const UNIT_POINTS = 128;
const nothing = (): Counts => ({
  allocations: 0,
  allocatedBytes: 0,
  frees: 0,
  freedBytes: 0,
  gcFreedBytes: 0,
  oldFreedBytes: 0,
  largest: 0,
  oldest: 0,
});

/** Blocks that come and go in steps, on one process. */
export class StepRun {
  readonly process = 0;
  source: StepSource = 'optimizer';
  /** Steps that have ended. */
  count = 0;
  /** Of STEP_*, by step from 1. */
  readonly flags = new Map<number, number>();
  private readonly runs = new Map<number, SiteRun>();
  private addresses = 0x7f0000000000n;

  /** What is known of a site; call before its first allocation. */
  site(id: number, facts: Partial<SiteFacts> = {}): number {
    this.runOf(id, facts);
    return id;
  }

  alloc(site: number, bytes: number): Block {
    const run = this.runOf(site);
    const block = { site, bytes, step: this.count + 1, address: (this.addresses += 512n) };
    run.live.add(block);
    run.liveBytes += bytes;
    run.maxBytes = Math.max(run.maxBytes, run.liveBytes);
    run.now.allocations++;
    run.now.allocatedBytes += bytes;
    run.now.largest = Math.max(run.now.largest, bytes);
    run.firstStep ||= block.step;
    run.lastAllocationStep = block.step;
    return block;
  }

  free(block: Block | undefined, collected = false): void {
    if (block === undefined) return;
    const run = this.runOf(block.site);
    if (!run.live.delete(block)) throw new Error('This block is freed already.');
    run.liveBytes -= block.bytes;
    run.minBytes = Math.min(run.minBytes, run.liveBytes);
    run.now.frees++;
    run.now.freedBytes += block.bytes;
    if (collected) run.now.gcFreedBytes += block.bytes;
    if (block.step < this.count) {
      run.now.oldest = Math.max(run.now.oldest, this.count + 1 - block.step);
      run.now.oldFreedBytes += block.bytes;
    }
    run.tail.push(block);
  }

  /** Allocates and frees at once. */
  pass(site: number, bytes: number): void {
    this.free(this.alloc(site, bytes));
  }

  endStep(): void {
    this.count++;
    for (const run of this.runs.values()) {
      const record = { ...run.now, ...liveOf(run, this.count), minBytes: run.minBytes, maxBytes: run.maxBytes };
      run.records[this.count] = record;
      run.now = nothing();
      run.minBytes = run.maxBytes = run.liveBytes;
      run.tail = [];
    }
  }

  /** Blocks of a site that live now. */
  blocks(site: number): Block[] {
    return [...this.runOf(site).live];
  }

  sites(): number[] {
    return [...this.runs.keys()];
  }

  factsOf(site: number): SiteFacts {
    return this.runOf(site);
  }

  axis(points: number): StepAxis {
    const [first, last] = axisOf(this.count, points);
    const flags = first.map((from, i) => {
      let all = 0;
      for (let step = from; step <= (last[i] ?? 0); step++) all |= this.flags.get(step) ?? 0;
      return all;
    });
    return {
      process: this.process,
      source: this.source,
      count: this.count,
      first: Float64Array.from(first),
      last: Float64Array.from(last),
      endNs: Float64Array.from(last, step => step * 1e8),
      fullCollections: new Float64Array(last.length),
      flags: Uint8Array.from(flags),
    };
  }

  series(query: SiteSeriesQuery): SiteSeries {
    const axis = this.axis(query.points);
    const all = [...this.runs.values()]
      .filter(run => run.layer === query.layer && run.firstStep > 0)
      .filter(run => query.sites === undefined || query.sites.includes(run.id))
      .sort((a, b) => (b.records[this.count]?.liveBytes ?? 0) - (a.records[this.count]?.liveBytes ?? 0));
    const rows = all.slice(query.from, query.to);
    return {
      ...axis,
      ...rowFacts(rows),
      ...matrices(rows, axis),
      total: all.length,
      rows: rows.length,
    };
  }

  private runOf(id: number, facts: Partial<SiteFacts> = {}): SiteRun {
    let run = this.runs.get(id);
    if (run === undefined) {
      run = {
        layer: 'tensor',
        thread: 0,
        device: 0,
        lineSource: 'python',
        category: 'unnamed',
        segments: false,
        library: '',
        ...facts,
        id,
        records: [],
        now: nothing(),
        liveBytes: 0,
        minBytes: 0,
        maxBytes: 0,
        live: new Set(),
        tail: [],
        firstStep: 0,
        lastAllocationStep: 0,
      };
      this.runs.set(id, run);
    }
    return run;
  }
}

function liveOf(
  run: SiteRun,
  ended: number,
): Pick<StepRecord, 'liveBytes' | 'liveCount' | 'oldLiveBytes' | 'oldLiveCount'> {
  let [oldLiveBytes, oldLiveCount] = [0, 0];
  for (const block of run.live) {
    if (block.step > ended - 2) continue;
    oldLiveBytes += block.bytes;
    oldLiveCount++;
  }
  return { liveBytes: run.liveBytes, liveCount: run.live.size, oldLiveBytes, oldLiveCount };
}

/** Points of 1 step for the newest, of 2, 4, 8, ... steps before. */
function axisOf(count: number, points: number): [number[], number[]] {
  const first: number[] = [];
  const last: number[] = [];
  let width = 1;
  for (let end = count; end > 0;) {
    if (first.length >= Math.min(UNIT_POINTS, points / 2) * (1 + Math.log2(width) / 4)) width *= 2;
    const from = Math.max(1, end - width + 1);
    first.unshift(from);
    last.unshift(end);
    end = from - 1;
  }
  return [first, last];
}

function rowFacts(rows: readonly SiteRun[]) {
  const numbers = (value: (run: SiteRun) => number): Float64Array => Float64Array.from(rows, value);
  return {
    id: Uint32Array.from(rows, run => run.id),
    device: Int32Array.from(rows, run => run.device),
    lineSource: rows.map(run => run.lineSource),
    lastAllocationStep: numbers(run => run.lastAllocationStep),
    oldestFreedSteps: Uint32Array.from(rows, run =>
      Math.max(...Array.from(run.records, record => record?.oldest ?? 0), 0),
    ),
    segmentAllocations: numbers(run => (run.segments ? 1 : 0)),
    category: rows.map(run => run.category),
  };
}

/** How the numbers of the steps of one point are joined. */
type Join = 'last' | 'sum' | 'most';
const COLUMNS: readonly (readonly [string, keyof StepRecord, Join])[] = [
  ['liveBytes', 'liveBytes', 'last'],
  ['liveCount', 'liveCount', 'last'],
  ['oldLiveBytes', 'oldLiveBytes', 'last'],
  ['oldLiveCount', 'oldLiveCount', 'last'],
  ['minBytes', 'minBytes', 'last'],
  ['maxBytes', 'maxBytes', 'most'],
  ['stepAllocations', 'allocations', 'sum'],
  ['stepAllocatedBytes', 'allocatedBytes', 'sum'],
  ['stepFrees', 'frees', 'sum'],
  ['stepFreedBytes', 'freedBytes', 'sum'],
  ['gcFreedBytes', 'gcFreedBytes', 'sum'],
  ['oldFreedBytes', 'oldFreedBytes', 'sum'],
  ['stepLargestBytes', 'largest', 'most'],
];

function matrices(rows: readonly SiteRun[], axis: StepAxis): Matrices {
  const points = axis.last.length;
  const result: Record<string, Float64Array> = {};
  for (const [name, field, join] of COLUMNS) {
    const matrix = (result[name] = new Float64Array(rows.length * points));
    rows.forEach((run, row) => {
      for (let i = 0; i < points; i++) {
        const last = axis.last[i] ?? 0;
        let value = run.records[last]?.[field] ?? 0;
        for (let step = axis.first[i] ?? 1; join !== 'last' && step < last; step++) {
          const more = run.records[step]?.[field] ?? 0;
          value = join === 'sum' ? value + more : Math.max(value, more);
        }
        matrix[row * points + i] = value;
      }
    });
  }
  return { ...(result as unknown as Matrices), ...survivors(rows, axis) };
}

/** What lived when the last step ended, by the point in which it was born. */
function survivors(rows: readonly SiteRun[], axis: StepAxis): Pick<SiteSeries, 'survivorCount' | 'survivorBytes'> {
  const points = axis.last.length;
  const point = new Uint32Array(axis.count + 1);
  for (let i = 0; i < points; i++) point.fill(i, axis.first[i], (axis.last[i] ?? 0) + 1);
  const [count, bytes] = [new Float64Array(rows.length * points), new Float64Array(rows.length * points)];
  rows.forEach((run, row) => {
    for (const block of [...run.live, ...run.tail]) {
      if (block.step > axis.count) continue;
      const at = row * points + (point[block.step] ?? 0);
      count[at] = (count[at] ?? 0) + 1;
      bytes[at] = (bytes[at] ?? 0) + block.bytes;
    }
  });
  return { survivorCount: count, survivorBytes: bytes };
}
