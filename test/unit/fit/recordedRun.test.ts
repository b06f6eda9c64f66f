// Runs as they are read of a trace, and replayed by the addon that was built.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRun } from '../../../extension/fit/recordedRun';
import { replayRecorded } from '../../../extension/fit/replay';
import type { LifetimeCursor } from '../../../extension/native/native';
import { LAYERS } from '../../../extension/protocol/trace';
import { addon } from '../addon/builtAddon';

const MIB = 2 ** 20;

type LifetimeBatch = NonNullable<Awaited<ReturnType<LifetimeCursor['next']>>>;
const SEGMENT = { layer: LAYERS.indexOf('driver'), kind: 16 };
const PIECE = { ...SEGMENT, kind: 22 };
const TENSOR = { layer: LAYERS.indexOf('tensor'), kind: 1 };

interface RecordedRow {
  layer: number;
  kind: number;
  address: number;
  mib: number;
  begin: number;
  end?: number;
  step?: number;
}

async function read(rows: readonly RecordedRow[], untilStep?: number): ReturnType<typeof readRun> {
  const column = (of: (row: RecordedRow) => number): Float64Array => Float64Array.from(rows, of);
  const none = new Uint32Array(rows.length);
  const batch = {
    rows: rows.length,
    modules: [''],
    ...{ process: none, device: none, site: none, category: none, module: none },
    stepBegin: column(({ step = 1 }) => step),
    layer: column(({ layer }) => layer),
    kind: column(({ kind }) => kind),
    address: column(({ address }) => address * MIB),
    bytes: column(({ mib }) => mib * MIB),
    beginNs: column(({ begin }) => begin),
    endNs: column(({ end }) => end ?? NaN),
  };
  const batches = [batch as unknown as LifetimeBatch];
  const failed = {
    layer: 'tensor',
    process: 0,
    device: 0,
    timeNs: 95,
    requestedBytes: MIB,
    site: 0,
    snapshot: { step: 2 },
  };
  const cursor = {
    next: () => Promise.resolve(batches.shift() ?? null),
    site: () => ({ key: 'a', pass: 'other', frames: [{ file: 'train.py', line: 3, function: 'f' }], userFrame: 0 }),
    info: () => ({ outOfMemory: untilStep === undefined ? [] : [failed] }),
  };
  return readRun(cursor as unknown as LifetimeCursor, 0, 0, untilStep);
}

async function replayed(rows: readonly RecordedRow[]): Promise<ReturnType<typeof replayRecorded>> {
  const run = await read(rows);
  assert.ok(!('error' in run));
  return replayRecorded(addon, run, run.expandable ? { expandableSegments: true } : {});
}

test('what was there before is put in as it was: a block in the middle of its segment, a free segment', async () => {
  const { run, equal, peakBytes, recordedPeakBytes } = await replayed([
    { ...SEGMENT, address: 1000, mib: 40, begin: 0 },
    { ...TENSOR, address: 1020, mib: 4, begin: 0, end: 90 },
    { ...SEGMENT, address: 2000, mib: 30, begin: 0 },
    { ...TENSOR, address: 1024, mib: 16, begin: 10 }, // fits best behind the block
    { ...TENSOR, address: 1000, mib: 18, begin: 20 },
    { ...TENSOR, address: 2000, mib: 30, begin: 30 },
    { ...SEGMENT, address: 3000, mib: 50, begin: 40 },
    { ...TENSOR, address: 3000, mib: 50, begin: 40 },
  ]);
  assert.deepEqual([run.count, run.earlier, run.segments.length], [5, 1, 3]);
  assert.deepEqual([equal, peakBytes, recordedPeakBytes], [4, 120 * MIB, 120 * MIB]);
});

test('at one time: tensors end, then their segments; segments begin, then what lies in them', async () => {
  const { run, equal, peakBytes } = await replayed([
    { ...TENSOR, address: 1000, mib: 30, begin: 5, end: 20 },
    { ...SEGMENT, address: 1000, mib: 30, begin: 5, end: 20 },
    { ...TENSOR, address: 1000, mib: 20, begin: 20 },
    { ...SEGMENT, address: 1000, mib: 20, begin: 20 },
  ]);
  assert.deepEqual([run.earlier, equal, peakBytes], [0, 2, 30 * MIB]);
});

test('a segment that comes and goes at one address is found each time, and other memory of the driver never', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => [
    { ...SEGMENT, address: 1000, mib: 30, begin: 10 * at + 1, end: 10 * at + 8 },
    { ...TENSOR, address: 1000, mib: 30, begin: 10 * at + 2, end: 10 * at + 6 },
  ]).flat();
  const { run, equal, peakBytes } = await replayed([{ ...SEGMENT, address: 500, mib: 64, begin: 0 }, ...rows]);
  assert.deepEqual([run.segments.length, equal, peakBytes], [40, 40, 30 * MIB]);
});

test('expandable segments: the parts that are mapped', async () => {
  const { run, equal } = await replayed([
    { ...PIECE, address: 1, mib: 20, begin: 1 },
    { ...TENSOR, address: 1000, mib: 16, begin: 2 },
    { ...PIECE, address: 2, mib: 20, begin: 3 },
    { ...TENSOR, address: 1016, mib: 20, begin: 4 },
  ]);
  assert.deepEqual([run.expandable, equal], [true, 2]);
});

test('a step that failed because its batch was larger is left out, with its segments and what did not fit', async () => {
  const rows = [
    { ...SEGMENT, address: 1000, mib: 30, begin: 1 },
    { ...TENSOR, address: 1000, mib: 30, begin: 2, end: 6 },
    { ...TENSOR, address: 1000, mib: 30, begin: 11, step: 2 },
    { ...SEGMENT, address: 2000, mib: 60, begin: 12 },
    { ...TENSOR, address: 2000, mib: 60, begin: 13, step: 2 },
  ];
  const [all, cut] = [await read(rows, 3), await read(rows, 2)];
  assert.ok(!('error' in all) && !('error' in cut));
  assert.deepEqual([all.count, all.segments.length, cut.count, cut.segments.length], [4, 2, 1, 1]);
});
