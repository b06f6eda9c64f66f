import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runTraced, total } from './traced.mjs';

test('fork, spawn, exec, torchrun and DataLoader workers: a log for each process that used the GPU', () => {
  const { report, truth, status, stderr } = runTraced('children');
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    truth.children.map(child => child.how),
    ['fork', 'spawn', 'exec', 'torchrun', 'torchrun'],
  );
  for (const child of truth.children) {
    assert.equal(total(report, 'tensor', child.pid).allocations, child.allocated, child.how);
  }
  assert.equal(total(report, 'tensor', truth.pid).allocations, truth.stats['allocation.all'].allocated);
  assert.equal(report.processes.length, truth.children.length + 1, 'processes that never used CUDA have no log');
  assert.equal(report.lost.events, 0);
});
