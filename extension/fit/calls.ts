import type { AllocatorCalls } from '../native/native';
import type { RecordedRun } from './recordedRun';

// The order in which a program calls the allocator, recorded or changed. Sizes take no part in it.

/** An allocation as a plan has it. */
export interface Planned {
  /** Of the run. */
  allocation: number;
  /** As in the run; between two places of it where something is made again. */
  begin: number;
  end: number;
  /** Of its bytes; absent: all. */
  share?: number;
  /** Of a stream that the run does not have, from 1: its allocations lie apart; absent: where it was. */
  stream?: number;
}

/** Calls in their order, in columns. */
export interface CallOrder {
  /** Index into `of`; of what empties the cache: any. */
  planned: Uint32Array;
  /** 1: it is allocated, 0: freed, -1: the cache is emptied. */
  kind: Int8Array;
  /** By what is planned: its allocation of the run. */
  of: Uint32Array;
  /** By what is planned: its share of the bytes of that. */
  share: Float64Array;
  /** By what is planned: 0, or a stream that the run does not have. */
  stream: Uint8Array;
}

/** The calls of what is planned, and of the cache that was emptied where segments ended. What happens at one time: frees first. */
export function orderOf({ segments }: RecordedRun, planned: readonly Planned[]): CallOrder {
  const emptied = segments.filter(({ end }) => end !== Infinity);
  // A mark is 2 × planned + (it ends); behind them the ends of segments.
  const behind = 2 * planned.length;
  const places = new Float64Array(behind + emptied.length);
  const marks: number[] = [];
  planned.forEach(({ begin, end }, at) => {
    places[2 * at] = begin;
    places[2 * at + 1] = end;
    if (end > begin && end !== Infinity) marks.push(2 * at + 1);
  });
  emptied.forEach(({ end }, at) => {
    places[behind + at] = end;
    marks.push(behind + at);
  });
  planned.forEach(({ begin, end }, at) => {
    if (end > begin) marks.push(2 * at);
  });
  marks.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  return {
    planned: Uint32Array.from(marks, mark => (mark < behind ? mark >> 1 : 0)),
    kind: Int8Array.from(marks, mark => (mark >= behind ? -1 : mark & 1 ? 0 : 1)),
    of: Uint32Array.from(planned, ({ allocation }) => allocation),
    share: Float64Array.from(planned, ({ share = 1 }) => share),
    stream: Uint8Array.from(planned, ({ stream = 0 }) => stream),
  };
}

/** With sizes and pools, each by allocation of the run. */
export function callsOf(
  { planned, kind, of, share, stream }: CallOrder,
  bytes: Float64Array,
  pool: Uint32Array,
): AllocatorCalls {
  const others = pool.reduce((most, one) => Math.max(most, one), 0);
  const sizes = new Float64Array(kind.length); // a search makes hundreds of these: `from` would take ten times as long
  for (let at = 0; at < sizes.length; at++) {
    const one = kind[at] ?? 0;
    const place = planned[at] ?? 0;
    sizes[at] = one > 0 ? shareOf(bytes[of[place] ?? 0] ?? 0, share[place] ?? 1) : one;
  }
  return {
    allocation: planned,
    bytes: sizes,
    pool: of.map((allocation, at) => {
      const apart = stream[at] ?? 0;
      return apart === 0 ? (pool[allocation] ?? 0) : others + apart;
    }),
    address: new Float64Array(0),
  };
}

const shareOf = (bytes: number, share: number): number => (share === 1 ? bytes : Math.max(1, Math.ceil(bytes * share)));

/** So many calls before and behind one of them, after what was alive then. */
export function around({ planned, kind, ...rest }: CallOrder, call: number, before: number, behind: number): CallOrder {
  const from = Math.max(0, call - before);
  const alive = new Uint8Array(rest.of.length);
  for (let at = 0; at < from; at++) if ((kind[at] ?? 0) >= 0) alive[planned[at] ?? 0] = kind[at] ?? 0;
  const kept: number[] = [];
  for (let at = 0; at < from; at++) if (kind[at] === 1 && alive[planned[at] ?? 0] === 1) kept.push(at);
  for (let at = from; at < Math.min(kind.length, call + behind); at++) kept.push(at);
  return {
    planned: Uint32Array.from(kept, at => planned[at] ?? 0),
    kind: Int8Array.from(kept, at => kind[at] ?? 0),
    ...rest,
  };
}

/** The run as it was recorded. */
export function asRecorded(run: RecordedRun): Planned[] {
  return Array.from({ length: run.count }, (_, allocation) => ({
    allocation,
    begin: run.begin[allocation] ?? 0,
    end: run.end[allocation] ?? Infinity,
  }));
}
