// Pools of captured graphs and of a MemPool, against the allocator's own account of the same moment.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jobFile, python, runTraced, runUntraced } from './traced.mjs';

test('reserved and live bytes by pool, who has it, and the same results', () => {
  const { stdout } = runUntraced('graph_pools');
  const run = runTraced('graph_pools');
  assert.deepEqual([run.status, run.stdout], [0, stdout], run.stderr);
  const { pools } = run.report;
  const found = Object.fromEntries(pools.map(pool => [pool.id, [pool.reservedBytes, pool.liveBytes]]));
  assert.deepEqual(found, run.truth.pools);
  const graphs = pools.filter(pool => pool.kind === 'graph');
  assert.deepEqual(graphs.map(pool => pool.makers).sort(), [1, 1, 2]);
  for (const pool of graphs) assert.ok(pool.label.includes('__main__.graphs[...]'), pool.label);
  const own = pools.find(pool => pool.kind === 'mempool');
  assert.deepEqual([own.makers, own.label.includes('__main__.scratch')], [1, true]);
  const byPool = pools.map(pool => [pool.id, pool.liveBytes]);
  const blocks = run.report.allocations.filter(block => block.layer === 'tensor');
  const summed = byPool.map(([id]) => [
    id,
    blocks.filter(block => block.pool === id).reduce((sum, { bytes }) => sum + bytes, 0),
  ]);
  assert.deepEqual(summed, byPool);
});

test('tensors that torch_memory_saver paused hold no memory, and hold it again once they are resumed', t => {
  const job = [python, jobFile('memory_saver')];
  const paused = runTraced(job);
  if (paused.stdout.startsWith('no ')) return t.skip('torch_memory_saver is not installed');
  const of = run => run.saved.pools.filter(pool => pool.kind === 'paused').map(pool => pool.liveBytes);
  assert.match(paused.stdout, /given back True/, paused.stderr);
  assert.deepEqual(of(paused), [8 * 256 * 2 ** 20]);
  const resumed = runTraced([...job, 'resume']);
  assert.match(resumed.stdout, /values \[0, 1, 2, 3, 4, 5, 6, 7\]/, resumed.stderr);
  assert.deepEqual(of(resumed), []);
});

test('a GPU that captured graphs keep to themselves: the reason, and what to do', () => {
  const run = runTraced('graph_pools', { GMT_FULL: '1' });
  assert.equal(run.status, 1);
  const failure = run.report.oom.find(one => one.cause !== undefined);
  console.log(run.stderr);
  assert.equal(failure.cause, 'pools');
  assert.equal(failure.advice[0].kind, 'one-pool', failure.advice[0].text);
});
