import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runTraced, runUntraced, total } from './traced.mjs';

test('torch.profiler records the same CUDA events, and the driver layer stays complete', () => {
  const plain = runUntraced('profiled');
  const traced = runTraced('profiled');
  assert.equal(traced.status, 0, traced.stderr);
  assert.deepEqual(traced.truth.rounds, plain.truth.rounds);
  assert.ok(Object.keys(plain.truth.rounds[0]).length > 0);
  const driver = total(traced.report, 'driver');
  const stats = traced.truth.stats['segment.all'];
  assert.equal(driver.segmentAllocations, stats.allocated);
  assert.equal(driver.segmentFrees, stats.freed);
  assert.equal(traced.report.lost.events, 0);
});
