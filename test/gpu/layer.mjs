import assert from 'node:assert/strict';

import { total } from './traced.mjs';

/** The tensor layer of a report says what the job's own torch.cuda.memory_stats() say. */
export function assertTensorLayer(report, stats) {
  const tensors = total(report, 'tensor');
  assert.equal(tensors.allocations, stats['allocation.all'].allocated, 'allocations');
  assert.equal(tensors.frees, stats['allocation.all'].freed, 'frees');
  assert.equal(tensors.liveCount, stats['allocation.all'].current, 'live blocks');
  assert.equal(tensors.liveBytes, stats['allocated_bytes.all'].current, 'live bytes');
  assert.equal(tensors.allocatedBytes, stats['allocated_bytes.all'].allocated, 'allocated bytes');
  assert.equal(tensors.peakBytes, stats['allocated_bytes.all'].peak, 'peak bytes');
}
