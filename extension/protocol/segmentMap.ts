// The segments of a device with what lies in them, to be drawn. Units as in trace.ts.

export interface SegmentQuery {
  process: number;
  device: number;
  /** At most so many blocks come back, the biggest; absent: 100,000. */
  maxBlocks?: number;
}
/** One process's memory on one device in address order, to be drawn. Each array has an entry a segment. */
export interface SegmentMap {
  revision: number;
  /**
   * `framework`: what a caching allocator took from the driver, and its blocks in there. `driver`: no framework's allocator
   * was seen; the segments are the driver's own allocations, and `blocks` is empty.
   */
  source: 'framework' | 'driver';
  /** At most 65,536, the biggest; so many more are left out. */
  segmentsLeftOut: number;
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
  /** Who took it from the driver, and when (of several pieces the first). */
  site: Uint32Array;
  timeNs: Float64Array;
  /** The live blocks in these segments, in address order. */
  blocks: SegmentBlocks;
}
export interface SegmentBlocks {
  rows: number;
  /** Blocks that `maxBlocks` or `segmentsLeftOut` left out, and their bytes; the columns of segments count them. */
  leftOut: number;
  leftOutBytes: number;
  /** Blocks of the framework that lie in no segment that the trace knows of, and their bytes. */
  outside: number;
  outsideBytes: number;
  /** Index into the segments. */
  segment: Uint32Array;
  /** From the segment's begin. */
  offsetBytes: Float64Array;
  bytes: Float64Array;
  site: Uint32Array;
  ageSteps: Float64Array;
  timeNs: Float64Array;
  /** Index into `CATEGORIES` of steps.ts. */
  category: Uint8Array;
}
