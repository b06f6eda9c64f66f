import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFactor, byTwoRuns } from '../../../extension/fit/otherBatch';
import { bufferBytes, isBuffer, largestBuffer } from '../../../extension/fit/reductionBuffers';
import { madeRun, sized, type Made } from './madeRun';

const KIB = 1024;
const MIB = 1024 * KIB;

test('by one run: the model stays, what it works on grows', () => {
  const run = madeRun([
    { bytes: 64 * KIB, begin: 1, category: 'parameter', module: 'up' },
    { bytes: 64 * KIB, begin: 2, category: 'gradient', module: 'up' },
    { bytes: 64 * KIB, begin: 3, category: 'optimizer' },
    { bytes: 40 * KIB, begin: 4, pass: 'optimizer' },
    { bytes: 512, begin: 5, category: 'activation' },
    { bytes: 64 * KIB, begin: 6, category: 'activation', module: 'up' }, // as big as the parameter: a copy of it
    { bytes: 32 * KIB, begin: 7, category: 'activation', module: 'up' }, // the same in half the precision
    { bytes: 64 * KIB, begin: 8, category: 'activation', module: 'down' },
    { bytes: 10_240, begin: 9, category: 'other' },
  ]);
  const sizes = byFactor(sized(run));
  assert.deepEqual([...sizes(1)], [...run.bytes]);
  const grown = [...sizes(2.5)];
  assert.deepEqual(grown.slice(0, 7), [...run.bytes.slice(0, 7)]);
  assert.deepEqual(grown.slice(7), [160 * KIB, 25_600]);
  assert.equal(sizes(1.01)[8], 10_752, 'sizes are rounded up to 512 bytes');
});

/** A step of a program with a batch. */
const step = (batch: number): Made[] => [
  { bytes: 100 * KIB, begin: 1, key: 'model' },
  { bytes: batch * 8 * KIB, begin: 2, key: 'activation' },
  { bytes: 20 * KIB + batch * 2 * KIB, begin: 3, key: 'both' },
];

test('by two runs: each allocation follows the batch as it did', () => {
  const sizes = byTwoRuns({ ...sized(madeRun(step(16))), batch: 16 }, { ...sized(madeRun(step(8))), batch: 8 });
  assert.deepEqual([...sizes(1)], [...madeRun(step(16)).bytes]);
  for (const batch of [8, 32, 40]) assert.deepEqual([...sizes(batch / 16)], [...madeRun(step(batch)).bytes]);
  assert.equal(sizes(1 / 1024)[1], 512);
});

test('by two runs whose steps differ: allocations of a line pair up, and more of them share its bytes', () => {
  const more: Made = { bytes: 4 * KIB, begin: 4, key: 'loop' };
  const [base, other] = [
    [...step(16), more, more, more],
    [...step(8), more, { ...more, bytes: 8 * KIB }],
  ];
  const sizes = byTwoRuns({ ...sized(madeRun(base)), batch: 16 }, { ...sized(madeRun(other)), batch: 8 });
  const grown = [...sizes(2)];
  assert.deepEqual(grown.slice(0, 4), [...madeRun(step(32)).bytes, 4 * KIB]);
  assert.deepEqual(grown.slice(4), [4 * KIB, 4 * KIB], 'nothing gets smaller with the batch');
});

test('by two runs: a line that the other run has not grows as by one run', () => {
  const own: Made = { bytes: 8 * KIB, begin: 4, key: 'kernel', category: 'activation' };
  const weights: Made = { bytes: 12 * KIB, begin: 5, key: 'weights', category: 'parameter' };
  const base = sized(madeRun([...step(16), own, weights]));
  const sizes = byTwoRuns({ ...base, batch: 16 }, { ...sized(madeRun(step(8))), batch: 8 });
  assert.deepEqual([...sizes(2)].slice(3), [16 * KIB, 12 * KIB]);
});

test('by two runs: a block may be up to 1 MiB more than its tensor, which both runs show together', () => {
  const tensors = (bytes: readonly number[]) =>
    madeRun(bytes.map((one, begin) => ({ bytes: one, begin: begin + 1, key: `line ${begin}` })));
  // Known: 9.5 MiB in the one run, 19 MiB in the other. The last block of each is larger than what lies in it.
  const base = { ...sized(tensors([19 * MIB, 4 * MIB, 20 * MIB]), [2]), batch: 8 };
  const other = { ...sized(tensors([9.5 * MIB, 4 * MIB, 9.75 * MIB]), [2]), batch: 4 };
  assert.deepEqual([...byTwoRuns(base, other)(2)], [38 * MIB, 4 * MIB, 38 * MIB]);
  // Where tensors do not follow the batch as such, sizes are taken as they are.
  const more = { ...sized(tensors([20 * MIB, 6 * MIB, 20 * MIB]), [2]), batch: 8 };
  const less = { ...sized(tensors([11 * MIB, 4 * MIB, 10.5 * MIB]), [2]), batch: 4 };
  assert.deepEqual([...byTwoRuns(more, less)(2)], [38 * MIB, 10 * MIB, 39 * MIB]);
});

test('by two runs: one that has an allocation more still pairs up, and nothing grows faster than the batch', () => {
  const made = (batch: number, extra: readonly Made[]): Made[] =>
    [
      { bytes: batch * 8 * KIB, begin: 1, key: 'line' },
      ...extra,
      { bytes: batch * 4 * KIB, begin: 1, key: 'line' },
      { bytes: batch * batch * KIB, begin: 1, key: 'workspace' },
    ].map((one, at) => ({ ...one, begin: at + 1 }));
  const extra: Made = { bytes: 3 * KIB, begin: 1, key: 'line' };
  const base = { ...sized(madeRun(made(16, []))), batch: 16 };
  const sizes = byTwoRuns(base, { ...sized(madeRun(made(8, [extra]))), batch: 8 });
  assert.deepEqual([...sizes(2)], [256 * KIB, 128 * KIB, 512 * KIB]);
});

test('the buffer of a sum grows until all of the GPU works on it', () => {
  const sum: Made[] = [
    { bytes: 94 * MIB, begin: 1, end: 9, key: 'sum' },
    { bytes: 512, begin: 5, end: 8, key: 'sum' },
    { bytes: 94 * MIB, begin: 20, end: 90, key: 'tensor' },
  ];
  const run = madeRun(sum);
  assert.deepEqual(
    [0, 1, 2].map(at => isBuffer(run, at)),
    [true, false, false],
  );
  const half = madeRun(sum.map(one => ({ ...one, bytes: Math.max(512, one.bytes / 2) })));
  const h200 = { ...sized(run), largestBuffer: largestBuffer('NVIDIA H200'), batch: 4 };
  const grown = [132 * MIB, 512, 188 * MIB];
  assert.deepEqual([...byTwoRuns(h200, { ...sized(half), batch: 2 })(2)], grown);
  assert.deepEqual([...byFactor(h200)(2)], grown);
  assert.equal(largestBuffer('NVIDIA GeForce RTX 4090'), 96 * MIB);
  assert.equal(largestBuffer('a new GPU'), Infinity);
});

test('buffers of sums, as an H200 had them: none for few rows', () => {
  const h200 = largestBuffer('NVIDIA H200');
  const mib = (columns: number, rows: number): number => bufferBytes(columns, rows, h200) / MIB;
  assert.deepEqual([mib(3072, 900), mib(3072, 1800), mib(3072, 3600)], [0, 43.5, 85.5]);
  assert.deepEqual([mib(1536, 9456), mib(1536, 18_912), mib(768, 1800)], [111, 132, 10.875]);
});

test('a buffer is as large as the rows of its sum need, by one run or by two', () => {
  const step = (rows: number): Made[] => [
    { bytes: rows * 3072 * 2, begin: 1, end: 80, category: 'activation', module: 'up', key: 'up' },
    { bytes: 3072 * 2, begin: 10, end: 30, module: 'up', pass: 'backward', key: 'sum' },
    { bytes: bufferBytes(3072, rows, 132 * MIB), begin: 14, end: 22, module: 'up', pass: 'backward', key: 'buffer' },
    { bytes: 512, begin: 18, end: 21, module: 'up', pass: 'backward', key: 'flags' },
  ];
  const [less, more] = [1100, 1800].map(rows => ({ ...sized(madeRun(step(rows))), largestBuffer: 132 * MIB }));
  assert.ok(less !== undefined && more !== undefined);
  assert.equal(byFactor(more)(2)[2], 85.5 * MIB);
  assert.equal(byFactor(more)(0.5)[2], 512, 'it needs none');
  assert.equal(byTwoRuns({ ...more, batch: 18 }, { ...less, batch: 11 })(2)[2], 85.5 * MIB);
});
