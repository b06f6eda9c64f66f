import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFactor, byTwoRuns } from '../../../extension/fit/otherBatch';
import type { RecordedRun } from '../../../extension/fit/recordedRun';
import { madeRun, type Made } from './madeRun';

const KIB = 1024;

/** What was requested is what is recorded. */
const sized = (run: RecordedRun) => ({ run, requested: run.bytes });

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
  assert.equal(grown[4], 512, 'half as big in twice the batch');
  assert.equal(grown[5], 4 * KIB, 'as a whole the line has 12 KiB in both');
});
