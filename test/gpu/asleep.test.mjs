// Recording that begins late, or pauses, and lean traces, on a GPU.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAsleep } from '../workloads/asleepRuns.mjs';
import { jobFile, python, runTraced, total } from './traced.mjs';

testAsleep({ python, env: {}, options: [], file: jobFile('asleep') });

test('a lean trace has the same totals, and backward memory at its backward() call', () => {
  const [full, lean] = [runTraced('backward_share'), runTraced('backward_share', {}, ['--lean'])];
  for (const run of [full, lean]) assert.equal(run.status, 0, run.stderr);
  const counts = ({ report }) => {
    const { allocations, frees, liveBytes, allocatedBytes } = total(report, 'tensor');
    return { allocations, frees, liveBytes, allocatedBytes };
  };
  assert.deepEqual(counts(lean), counts(full));
  const bytes = {};
  for (const { lineSource, allocatedBytes } of lean.report.sites.filter(site => site.layer === 'tensor'))
    bytes[lineSource] = (bytes[lineSource] ?? 0) + allocatedBytes;
  console.log(`lean: bytes by how the line was found: ${JSON.stringify(bytes)}`);
  assert.ok(bytes['backward-call'] > 0);
  assert.deepEqual([bytes.forward, bytes['forward-near']], [undefined, undefined]);
});
