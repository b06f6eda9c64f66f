import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertTensorLayer } from './layer.mjs';
import { runTraced, runUntraced, total } from './traced.mjs';

const CONFIGURATIONS = {
  default: {},
  'expandable segments': { PYTORCH_CUDA_ALLOC_CONF: 'expandable_segments:True' },
  cudaMallocAsync: { PYTORCH_CUDA_ALLOC_CONF: 'backend:cudaMallocAsync' },
  'no caching': { PYTORCH_NO_CUDA_MEMORY_CACHING: '1' },
};

for (const [name, env] of Object.entries(CONFIGURATIONS)) {
  test(`accounting, ${name}: the report equals torch.cuda.memory_stats()`, () => {
    const plain = runUntraced('accounting', env);
    const traced = runTraced('accounting', env);
    assert.equal(traced.status, plain.status, traced.stderr);
    assert.equal(traced.stdout, plain.stdout, 'the program prints the same');
    assert.equal(traced.truth.loss, plain.truth.loss, 'the same loss, bit for bit');
    assert.equal(traced.report.lost.events, 0);
    assert.deepEqual(traced.saved.totals, traced.report.totals, 'the saved trace says the same');
    const { stats } = traced.truth;
    if (name === 'default') {
      assertTensorLayer(traced.report, stats);
      const driver = total(traced.report, 'driver');
      assert.equal(driver.segmentAllocations, stats['segment.all'].allocated, 'segments');
      assert.equal(driver.segmentFrees, stats['segment.all'].freed, 'segments freed');
      assert.equal(traced.truth.during['segment.all'].allocated - traced.truth.before['segment.all'].allocated, 1);
    } else if (name === 'expandable segments') {
      assertTensorLayer(traced.report, stats);
    } else {
      // No tensor reports here: the driver layer is the tensor layer. The default configuration's truth is the same program's.
      const reference = runUntraced('accounting').truth.stats['allocation.all'];
      const driver = total(traced.report, 'driver');
      assert.equal(total(traced.report, 'tensor').allocations, 0);
      assert.ok(driver.allocations >= reference.allocated, `${driver.allocations} of ${reference.allocated}`);
      assert.ok(driver.allocations <= reference.allocated + 40, `${driver.allocations} of ${reference.allocated}`);
      if (name === 'cudaMallocAsync') assert.ok(driver.liveBytes >= stats['allocated_bytes.all'].current);
    }
    console.log(
      `${name}: ${JSON.stringify(total(traced.report, 'tensor'))} driver ${JSON.stringify(total(traced.report, 'driver'))}`,
    );
  });
}

test('killed by SIGKILL: everything written until then is in the report', () => {
  const traced = runTraced('accounting', { GMT_KILL: '1' });
  assert.equal(traced.status, 137, traced.stderr);
  assertTensorLayer(traced.report, traced.truth.stats);
});
