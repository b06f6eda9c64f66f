// Recording that begins late, or pauses, and lean traces, on PyTorch's CPU build.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { testAsleep } from '../workloads/asleepRuns.mjs';
import { runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const variablesOfLeaks = cpuVariables();
const { PYTHONPATH, ...variables } = variablesOfLeaks;
testAsleep({
  python: process.env.GMT_TORCH_PYTHON,
  env: { ...variables, PYTHONPATH: `${PYTHONPATH}:${inRoot('test/gpu/jobs')}` },
  options: ['--simulate-gpu'],
  file: onCpu(inRoot('test/gpu/jobs/asleep.py')),
});

test('a lean trace has the same totals as another, and names no line of a forward pass', async () => {
  const [full, lean] = await Promise.all(
    [[], ['--lean']].map(more =>
      runJob(onCpu(inRoot('test/workloads/leaks/l01_loss_list.py')), {
        python: process.env.GMT_TORCH_PYTHON,
        env: variablesOfLeaks,
        options: ['--simulate-gpu', ...more],
      }),
    ),
  );
  const counts = ({ report }) =>
    report.totals.filter(({ layer }) => layer === 'tensor').map(one => [one.allocations, one.frees, one.liveBytes]);
  assert.ok(counts(full)[0][0] > 1000);
  assert.deepEqual(counts(lean), counts(full));
  assert.ok(lean.report.sites.every(({ lineSource }) => !lineSource.startsWith('forward')));
});
