import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecaster, UNCHANGED } from '../../../extension/fit/forecast';
import { replayRecorded } from '../../../extension/fit/replay';
import { addon } from '../addon/builtAddon';
import { madeRun } from './madeRun';

const MIB = 2 ** 20;

test('what hangs on small differences in size is said as two figures', () => {
  // What stays fits exactly into what was freed, or not at all.
  const run = madeRun([
    { bytes: 400 * MIB, begin: 1, end: 2, category: 'activation', module: 'up' },
    { bytes: 400 * MIB, begin: 3, category: 'parameter' },
  ]);
  const replayed = { ...replayRecorded(addon, run, {}), pool: new Uint32Array(run.count) };
  const forecast = forecaster(addon, { replayed, other: null, batch: 8, limitBytes: 10_000 * MIB, outsideBytes: 0 });
  const of = (change: object): number[] => {
    const found = forecast({ ...UNCHANGED, ...change });
    assert.ok(!('error' in found));
    return [found.leastBytes, found.reservedBytes, found.mostBytes].map(bytes => bytes / MIB);
  };
  assert.deepEqual(
    of({ stateShare: 0.5 }),
    [400, 400, 798],
    'a slightly smaller batch leaves a block that is too small',
  );
  assert.deepEqual(of({ factor: 0.5 }), [600, 600, 602]);
});
