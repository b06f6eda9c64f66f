// The planted leaks on a real PyTorch without a GPU.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { testLeaks } from '../workloads/leakRuns.mjs';
import { leaksOf, runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const python = process.env.GMT_TORCH_PYTHON;
const NEEDS_GPU = {
  'l22_graphs.py': 'CUDA graphs',
  'l27_pinned.py': 'pinned memory',
  'l28_sent.py': 'memory of another process',
};
const SMALL_GPU_BYTES = 1500 * 2 ** 20;

testLeaks({
  python,
  env: expected => cpuVariables(expected.verdict === 'oom' ? SMALL_GPU_BYTES : 0),
  options: ['--simulate-gpu'],
  concurrency: 2,
  jobFile: onCpu,
  left: name => NEEDS_GPU[name] && `needs a GPU: ${NEEDS_GPU[name]}`,
});

test('no other holder is named where PyTorch does not show what graphs hold', async () => {
  const env = { ...cpuVariables(), GMT_OLD_GRAPHS: '1' };
  const job = onCpu(inRoot('test/workloads/leaks/l62_graph_nodes.py'));
  for (const holders of ['atSteps', 'onFirstLeak']) {
    const { report } = await runJob(job, { python, env, options: ['--simulate-gpu', '--holders', holders] });
    const leaks = leaksOf(report).map(({ holder, unnamed }) => [holder, unnamed.includes('2.9 and older')]);
    assert.deepEqual(leaks, [[null, true]], holders);
  }
});
