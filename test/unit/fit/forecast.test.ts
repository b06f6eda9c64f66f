import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { fitter, readFitRun } from '../../../extension/fit/fitRun';
import { forecaster, UNCHANGED } from '../../../extension/fit/forecast';
import { replayRecorded } from '../../../extension/fit/replay';
import { addon } from '../addon/builtAddon';
import { madeRun } from './madeRun';

const MIB = 2 ** 20;

test('small differences in size that decide over much memory give two figures', () => {
  // What stays fits exactly into what was freed, or not at all.
  const run = madeRun([
    { bytes: 400 * MIB, begin: 1, end: 2, category: 'activation', module: 'up' },
    { bytes: 400 * MIB, begin: 3, category: 'parameter' },
  ]);
  const replayed = { ...replayRecorded(addon, run, {}), pool: new Uint32Array(run.count) };
  const forecast = forecaster(addon, { replayed, other: null, batch: 8, limitBytes: 10_000 * MIB, outsideBytes: 0 });
  const of = (change: object): number[] => {
    const found = forecast({ ...UNCHANGED, ...change }, true);
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

test('the largest batch is the same with and without a name for it; tensors of the run take what they took', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'fit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'gpt8.gputrace');
  writeFileSync(path, gunzipSync(readFileSync('test/golden/fit/gpt8.gputrace.gz')));
  const source = addon.open(path);
  await source.settle();
  const run = await readFitRun(addon, { name: 'gpt8', path, source });
  assert.ok(!('error' in run));
  const [named, unnamed] = [[8], []].map(batches => {
    const facts = fitter(addon, { trace: '', runs: [run], batches, gpuBytes: null })(() => null);
    assert.ok(!('error' in facts));
    return facts.changes;
  });
  const largest = (changes = named): unknown[] => (changes ?? []).map(each => each.largestFactor);
  assert.deepEqual(largest(named), largest(unnamed));
  assert.equal(largest().length, 5);
  assert.equal(named?.[0]?.allocatedBytes, run.totals.peakBytes);
});
