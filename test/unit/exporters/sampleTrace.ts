// A small trace with known sums, for tests of the exporters: two threads, two layers, ended and live allocations.
import type { LifetimeCursor } from '../../../extension/native/native';
import type { ExportInput, ExportWatch, Selection } from '../../../extension/exporters/exportInput';
import { makeInput } from '../../../extension/exporters/exportInput';
import type { LifetimeBatch, SegmentMap, SegmentQuery, Site, TraceInfo } from '../../../extension/protocol/trace';
import { CATEGORIES } from '../../../extension/protocol/trace';
import { LAYERS, type Layer } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals } from '../fakeTrace';

export const MB = 1 << 20;
export const BASE = 0x7f0000000000;

export interface Allocation {
  address: number;
  bytes: number;
  layer: Layer;
  site: number;
  begin: number;
  end?: number;
  thread?: number;
  process?: number;
  device?: number;
  kind?: number;
}

const linear = { file: '/lib/site-packages/torch/nn/linear.py', line: 125, function: 'forward' };
export const train = { file: '/home/user/train.py', line: 41, function: 'step' };
export const odd = { file: '/home/user/=train, "odd".py', line: 7, function: '=HYPERLINK("x")' };

export const sites: Site[] = [
  makeSite({ id: 1, layer: 'driver', frames: [train], userFrame: 0 }),
  makeSite({ id: 2, frames: [linear, train], userFrame: 1 }),
  makeSite({ id: 3, frames: [odd, train], userFrame: 0 }),
  makeSite({ id: 4, source: 'none' }),
];

/** In the order in which they ended; the live ones last. */
export const allocations: Allocation[] = [
  { address: BASE + 0, bytes: 4 * MB, layer: 'tensor', site: 2, begin: 2e9, end: 4e9 },
  { address: BASE + 0, bytes: 1 * MB, layer: 'tensor', site: 3, begin: 4e9, end: 6e9, thread: 1 },
  { address: BASE, bytes: 20 * MB, layer: 'driver', site: 1, begin: 1e9, kind: 16 },
  { address: BASE + 8 * MB, bytes: 2 * MB, layer: 'tensor', site: 2, begin: 3e9 },
  { address: BASE + 4 * MB, bytes: 1 * MB, layer: 'tensor', site: 4, begin: 5e9, thread: 1 },
];

export const info: TraceInfo = makeInfo({
  live: false,
  startRealtimeMs: 1_700_000_000_000,
  lost: { events: 5, byCause: { budget: 5 } },
  session: { command: ['python', 'train.py'], simulated: true },
  processes: [
    makeProcess({
      pid: 4100,
      simulated: true,
      threads: [
        // As a reader lists them that met the second one first.
        { index: 1, tid: 4101, name: 'pt_autograd_0' },
        { index: 0, tid: 4100, name: 'python' },
      ],
    }),
  ],
  devices: [{ index: 0, name: 'GPU', totalBytes: 80 * 1024 * MB }],
  totals: [
    makeTotals({ pid: 4100, liveBytes: 3 * MB, peakBytes: 6 * MB, peakNs: 3e9, allocations: 4, frees: 2 }),
    makeTotals({ pid: 4100, layer: 'driver', liveBytes: 20 * MB, peakBytes: 20 * MB, peakNs: 1e9, allocations: 1 }),
  ],
  outOfMemory: [
    {
      process: 0,
      device: 0,
      layer: 'tensor',
      requestedBytes: 9 * MB,
      timeNs: 5.5e9,
      site: 2,
      liveBytes: 3 * MB,
      thread: 0,
      freeBytes: null,
      snapshot: null,
    },
  ],
});

class SampleTrace extends FakeTrace {
  constructor(
    facts: TraceInfo,
    private readonly rows: readonly Allocation[],
  ) {
    const live = rows.filter(row => row.end === undefined);
    super(
      facts,
      live.map(row => ({
        address: BigInt(row.address),
        bytes: row.bytes,
        process: row.process ?? 0,
        thread: row.thread ?? 0,
        layer: row.layer,
        site: row.site,
        timeNs: row.begin,
        device: row.device ?? 0,
      })),
      sites,
    );
  }

  override segments({ process, device }: SegmentQuery): SegmentMap {
    const rows = this.rows.filter(
      row =>
        row.layer === 'driver' &&
        row.end === undefined &&
        (row.process ?? 0) === process &&
        (row.device ?? 0) === device,
    );
    const numbers = (value: (row: Allocation) => number): Float64Array => Float64Array.from(rows, value);
    return {
      revision: 1,
      source: this.rows.some(row => row.layer === 'tensor') ? 'framework' : 'driver',
      segmentsLeftOut: 0,
      address: BigUint64Array.from(rows, row => BigInt(row.address)),
      bytes: numbers(row => row.bytes),
      liveBytes: numbers(() => 0),
      largestGapBytes: numbers(() => 0),
      stream: new BigUint64Array(rows.length),
      mapped: new Uint8Array(rows.length),
      site: Uint32Array.from(rows, row => row.site),
      pools: [],
      pool: new Uint32Array(),
      blocks: {
        rows: 0,
        leftOut: 0,
        leftOutBytes: 0,
        outside: 0,
        outsideBytes: 0,
        segment: new Uint32Array(),
        offsetBytes: new Float64Array(),
        bytes: new Float64Array(),
        site: new Uint32Array(),
        ageSteps: new Float64Array(),
        category: new Uint8Array(),
      },
    };
  }
}

export function batchOf(rows: readonly Allocation[]): LifetimeBatch {
  return {
    rows: rows.length,
    address: BigUint64Array.from(rows, row => BigInt(row.address)),
    bytes: Float64Array.from(rows, row => row.bytes),
    device: Int32Array.from(rows, row => row.device ?? 0),
    process: Int32Array.from(rows, row => row.process ?? 0),
    thread: Int32Array.from(rows, row => row.thread ?? 0),
    layer: Uint8Array.from(rows, row => LAYERS.indexOf(row.layer)),
    site: Uint32Array.from(rows, row => row.site),
    beginNs: Float64Array.from(rows, row => row.begin),
    endNs: Float64Array.from(rows, row => row.end ?? NaN),
    freeThread: Int32Array.from(rows, row => (row.end === undefined ? -1 : 0)),
    stream: new BigUint64Array(rows.length),
    kind: Uint8Array.from(rows, row => row.kind ?? 1),
    stepBegin: Float64Array.from(rows, () => 1),
    category: Uint8Array.from(rows, () => CATEGORIES.indexOf('unnamed')),
    modules: ['', '=layers.3'],
    module: Uint32Array.from(rows, row => (row.layer === 'tensor' ? 1 : 0)),
  };
}

/** Two rows a batch. */
export function cursorOf(rows: readonly Allocation[]): LifetimeCursor {
  let at = 0;
  return {
    addNamesOf: () => undefined,
    next: () => {
      const batch = at < rows.length ? batchOf(rows.slice(at, at + 2)) : null;
      at += 2;
      return Promise.resolve(batch);
    },
    info: () => info,
    site: id => sites.find(site => site.id === id) ?? null,
    close: () => undefined,
  };
}

export function sampleInput(
  given: { rows?: readonly Allocation[]; facts?: TraceInfo; selection?: Selection; watch?: ExportWatch } = {},
): ExportInput {
  const { rows = allocations, facts = info, selection = { fromNs: null, untilNs: null }, watch = {} } = given;
  return makeInput(new SampleTrace(facts, rows), cursorOf(rows), selection, watch);
}

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
