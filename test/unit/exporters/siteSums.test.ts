import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumSites } from '../../../extension/exporters/siteSums';
import { BASE, MB, sampleInput, type Allocation } from './sampleTrace';

/** The sample's tensor peak is at 3 s. */
const at = (begin: number, end?: number, more: Partial<Allocation> = {}): Allocation => {
  return { address: BASE, bytes: MB, layer: 'tensor', site: 2, begin: begin * 1e9, end: end && end * 1e9, ...more };
};

test('the peak is what was alive then: begun at it or before, not ended', async () => {
  const rows = [at(1, 2), at(1, 3), at(2.9, 3.1), at(3.1, 4), at(3), at(3.2)];
  const [sum, ...others] = await sumSites(sampleInput({ rows }));
  assert.equal(others.length, 0);
  assert.deepEqual(sum, {
    layer: 'tensor',
    site: 2,
    process: 0,
    thread: 0,
    device: 0,
    liveBytes: 2 * MB,
    liveCount: 2,
    peakBytes: 2 * MB,
    peakCount: 2,
    allocatedBytes: 6 * MB,
    allocations: 6,
  });
});

test('threads, devices, processes, layers and stacks are kept apart', async () => {
  const rows = [at(1), at(1, undefined, { thread: 1 }), at(1, undefined, { device: 1 }), at(1, undefined, { site: 3 })];
  const more = [at(1, undefined, { process: 1 }), at(1, undefined, { layer: 'driver' }), at(2)];
  const sums = await sumSites(sampleInput({ rows: [...rows, ...more] }));
  assert.deepEqual(
    sums.map(sum => sum.allocations),
    [2, 1, 1, 1, 1, 1],
  );
});
