import type { SegmentMap } from '../protocol/trace';
import { DRIVER, TENSOR, type LifetimeTable } from './lifetimeTable';
import { firstWhere } from '../base/bisect';

/** One entry of a device's trace; `row` points into the table of allocations. */
export interface SnapshotEvent {
  action: 'alloc' | 'free' | 'segment_alloc' | 'segment_free';
  row: number;
  timeNs: number;
  /** Of a segment that no row stands for: where it lay. `row` is its first block then. */
  range?: Range;
}
interface Range {
  address: number;
  bytes: number;
}
export interface SnapshotSegment extends Range {
  stream: number;
  /** Row of the driver's allocation, or null where it was put together from mapped pieces, or is not known. */
  row: number | null;
  /** Live blocks in address order, as rows. */
  blocks: number[];
}
/** One process's memory on one device. */
export interface DeviceHistory {
  events: SnapshotEvent[];
  segments: SnapshotSegment[];
  /** Live driver bytes that are no segment of a framework. */
  otherDriverBytes: number;
}

/** Kinds of native/wire whose address is that of memory: cuMemAlloc, managed, async, of a graph. The others have handles. */
const ADDRESSED = new Set([16, 17, 18, 24]);
/** Pieces of memory whose segment is not known are shown as whole pages of this size. */
const PAGE_BYTES = 2 << 20;
const RANKS: Record<SnapshotEvent['action'], number> = { free: 0, segment_free: 1, segment_alloc: 2, alloc: 3 };
/** Behind all else of the moment, in its own order: what ends at the moment at which it begins. */
const AT_ONCE = 4;

/**
 * Replays one process's allocations on one device so that at every moment each block lies in a segment that is there, as
 * PyTorch's viewer demands. What the trace does not hold is filled in: blocks in no known segment get one, that is there from the first
 * to the last of them, or always if one is still alive; and blocks that outlive their segment end with it.
 */
export function replay(table: LifetimeTable, rows: readonly number[], map: SegmentMap): DeviceHistory {
  const tensors = rows.filter(row => table.get('layer', row) === TENSOR);
  const drivers = rows.filter(row => table.get('layer', row) === DRIVER && ADDRESSED.has(table.get('kind', row)));
  // Without a framework each of the driver's allocations is a segment with one block.
  if (map.source === 'driver' && tensors.length === 0) return replayDriver(table, drivers);
  return new Replay(table, tensors, drivers, map).run();
}

function replayDriver(table: LifetimeTable, rows: readonly number[]): DeviceHistory {
  const events = sortedEvents(table, rows, rows).filter(event => event.timeNs > table.cutoffNs);
  const segments = rows
    .filter(row => table.alive(row))
    .map(row => ({ ...rangeOf(table, row), stream: table.get('stream', row), row, blocks: [row] }));
  return { events, segments, otherDriverBytes: 0 };
}

function sortedEvents(table: LifetimeTable, blocks: readonly number[], segments: readonly number[]): SnapshotEvent[] {
  const events: SnapshotEvent[] = [];
  const add = (row: number, begin: 'alloc' | 'segment_alloc', end: 'free' | 'segment_free'): void => {
    events.push({ action: begin, row, timeNs: table.get('beginNs', row) });
    if (!table.alive(row)) events.push({ action: end, row, timeNs: table.get('endNs', row) });
  };
  for (const row of blocks) add(row, 'alloc', 'free');
  for (const row of segments) add(row, 'segment_alloc', 'segment_free');
  const rank = ({ action, row }: SnapshotEvent): number =>
    action.endsWith('free') && table.get('beginNs', row) === table.get('endNs', row)
      ? AT_ONCE + RANKS[action]
      : RANKS[action];
  return events.sort((a, b) => a.timeNs - b.timeNs || rank(a) - rank(b));
}

const rangeOf = (table: LifetimeTable, row: number): Range => {
  return { address: table.get('address', row), bytes: table.get('bytes', row) };
};

class Replay {
  private events: SnapshotEvent[] = [];
  /** Segments that are there now, in address order, and what lies in them. */
  private readonly present: { row: number; address: number; bytes: number; blocks: Set<number> }[] = [];
  private readonly holder = new Map<number, Set<number>>();
  private readonly mapped: SnapshotSegment[];
  private readonly orphans: number[] = [];
  private readonly used = new Set<number>();

  constructor(
    private readonly table: LifetimeTable,
    private readonly tensors: readonly number[],
    private readonly drivers: readonly number[],
    map: SegmentMap,
  ) {
    this.mapped = mappedSegments(map);
    const framework = new Set(Array.from(map.address, Number));
    for (const row of drivers) if (table.alive(row) && framework.has(table.get('address', row))) this.use(row);
  }

  run(): DeviceHistory {
    for (const event of sortedEvents(this.table, this.tensors, this.drivers)) this.step(event);
    const segments = [...this.liveSegments(), ...this.mapped, ...this.unknownSegments()];
    const other = this.present.filter(({ row }) => !this.isSegment(row));
    return {
      events: this.events.filter(({ action, row, timeNs, range }) => {
        if (timeNs <= this.table.cutoffNs) return false;
        return !action.startsWith('segment') || range !== undefined || this.isSegment(row);
      }),
      segments: segments.map(segment => ({ ...segment, blocks: this.withoutOverlaps(segment.blocks) })),
      otherDriverBytes: other.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  private step(event: SnapshotEvent): void {
    switch (event.action) {
      case 'alloc':
        this.place(event.row);
        break;
      case 'free':
        // It ended with its segment already.
        if (this.holder.get(event.row)?.delete(event.row) === false) return;
        break;
      case 'segment_alloc':
        this.present.splice(this.after(this.table.get('address', event.row)), 0, {
          row: event.row,
          ...rangeOf(this.table, event.row),
          blocks: new Set(),
        });
        break;
      case 'segment_free':
        this.removeSegment(event);
        break;
    }
    this.events.push(event);
  }

  private place(row: number): void {
    const block = rangeOf(this.table, row);
    const found = this.present[this.after(block.address) - 1];
    const mapped = this.mapped.find(segment => contains(segment, block));
    if (found !== undefined && contains(found, block)) {
      this.use(found.row);
      found.blocks.add(row);
      this.holder.set(row, found.blocks);
    } else if (mapped !== undefined) {
      if (this.table.alive(row)) mapped.blocks.push(row);
    } else {
      this.orphans.push(row);
    }
  }

  private removeSegment({ row, timeNs }: SnapshotEvent): void {
    const index = this.present.findIndex(segment => segment.row === row);
    const [removed] = index < 0 ? [] : this.present.splice(index, 1);
    for (const block of removed?.blocks ?? []) this.events.push({ action: 'free', row: block, timeNs });
    removed?.blocks.clear();
  }

  /** Index behind the last present segment that begins at or below the address. */
  private after(address: number): number {
    return firstWhere(this.present.length, at => (this.present[at]?.address ?? 0) > address);
  }

  /** What one stack took is of one kind: when one of its allocations is a segment, all are. */
  private use(row: number): void {
    this.used.add(this.table.get('site', row));
  }
  private isSegment(row: number): boolean {
    return this.used.has(this.table.get('site', row));
  }

  private liveSegments(): SnapshotSegment[] {
    return this.present
      .filter(({ row }) => this.isSegment(row))
      .map(({ row, address, bytes, blocks }) => {
        return { row, address, bytes, blocks: [...blocks], stream: this.table.get('stream', row) };
      });
  }

  /** Segments for blocks of which none is known. Those that have no block any more are in the events alone. */
  private unknownSegments(): SnapshotSegment[] {
    const taken = [...this.drivers.map(row => rangeOf(this.table, row)), ...this.mapped];
    const exact = merged(this.orphans.map(row => rangeOf(this.table, row)));
    const segments = merged(exact.map(range => paged(range, taken))).map(range => {
      return { ...range, stream: 0, row: null, blocks: [] as number[] };
    });
    const segmentOf = new Map<number, SnapshotSegment>();
    let at = 0;
    for (const row of [...this.orphans].sort((a, b) => this.table.get('address', a) - this.table.get('address', b))) {
      const block = rangeOf(this.table, row);
      while (at < segments.length && !contains(segments[at] ?? block, block)) at++;
      const segment = segments[at];
      if (segment === undefined) break;
      segmentOf.set(row, segment);
      if (this.table.alive(row)) segment.blocks.push(row);
    }
    for (const [row, { blocks }] of segmentOf) if (blocks.length > 0) segmentOf.delete(row);
    this.surround(segmentOf);
    return segments.filter(({ blocks }) => blocks.length > 0);
  }

  /** Puts each segment around the first and the last event of its blocks. */
  private surround(segmentOf: ReadonlyMap<number, Range>): void {
    const [firsts, lasts] = [new Map<Range, SnapshotEvent>(), new Map<Range, SnapshotEvent>()];
    for (const event of this.events) {
      const segment = segmentOf.get(event.row);
      if (segment === undefined) continue;
      if (!firsts.has(segment)) firsts.set(segment, event);
      lasts.set(segment, event);
    }
    this.events = this.events.flatMap(event => {
      const range = segmentOf.get(event.row);
      if (range === undefined) return event;
      const begin = firsts.get(range) === event ? [{ ...event, action: 'segment_alloc' as const, range }] : [];
      const end = lasts.get(range) === event ? [{ ...event, action: 'segment_free' as const, range }] : [];
      return [...begin, event, ...end];
    });
  }

  /** In address order; where two blocks overlap, a free was lost, and the later one counts. */
  private withoutOverlaps(blocks: readonly number[]): number[] {
    const { table } = this;
    const kept: number[] = [];
    for (const row of [...blocks].sort((a, b) => table.get('address', a) - table.get('address', b))) {
      let last = kept.at(-1);
      while (last !== undefined && overlap(rangeOf(table, last), rangeOf(table, row))) {
        if (table.get('beginNs', last) > table.get('beginNs', row)) break;
        kept.pop();
        last = kept.at(-1);
      }
      if (last === undefined || !overlap(rangeOf(table, last), rangeOf(table, row))) kept.push(row);
    }
    return kept;
  }
}

function mappedSegments(map: SegmentMap): SnapshotSegment[] {
  return Array.from(map.address, (address, i) => ({
    address: Number(address),
    bytes: map.bytes[i] ?? 0,
    stream: Number(map.stream[i] ?? 0n),
    row: null,
    blocks: [],
  })).filter((_, i) => map.mapped[i] === 1);
}

const contains = (outer: Range, inner: Range): boolean =>
  inner.address >= outer.address && inner.address + inner.bytes <= outer.address + outer.bytes;
const overlap = (a: Range, b: Range): boolean => a.address < b.address + b.bytes && b.address < a.address + a.bytes;

/** The pages it lies on, or it alone where a page is known to be another's. */
function paged(range: Range, taken: readonly Range[]): Range {
  const address = Math.floor(range.address / PAGE_BYTES) * PAGE_BYTES;
  const end = Math.ceil((range.address + range.bytes) / PAGE_BYTES) * PAGE_BYTES;
  const pages = { address, bytes: end - address };
  return taken.some(other => overlap(other, pages)) ? range : pages;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.address - b.address)) {
    const last = result.at(-1);
    if (last === undefined || range.address > last.address + last.bytes) result.push({ ...range });
    else last.bytes = Math.max(last.bytes, range.address + range.bytes - last.address);
  }
  return result;
}
