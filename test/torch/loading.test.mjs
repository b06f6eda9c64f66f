// A program that loads its data onto the GPU before it trains: what fills then is told as what may be filling, at every moment.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const BATCHES = 60;
const PROGRAM = `
import ctypes, time
import torch

ctypes.CDLL("libcuda.so.1").cuInit(0)
data = []
for batch in range(${BATCHES}):
    data.append(torch.randn(64, 64, device="cuda"))
    time.sleep(0.01)
model = torch.nn.Linear(64, 64).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in data:
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
`;

test('a data set that is loaded before training is never called a leak', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-loading-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, trace] = [join(folder, 'loading.py'), join(folder, 'loading.gputrace')];
  writeFileSync(file, PROGRAM);
  const options = ['--simulate-gpu', '--holders', 'never', '-o', trace];
  const { report } = await runJob(onCpu(file), { python: process.env.GMT_TORCH_PYTHON, env: cpuVariables(), options });
  assert.deepEqual([report.simulated, report.steps.count, report.findings], [true, BATCHES, []]);
  const told = words => spawnSync(process.execPath, [inRoot('dist/cli.js'), 'report', trace, ...words]).stdout;
  const lines = String(told(['--format', 'csv'])).split('\n');
  const column = lines[0].split(',').indexOf('begin_seconds');
  const loaded = lines.filter(line => line.includes('loading.py,8,')).map(line => Number(line.split(',')[column]));
  assert.equal(loaded.length, BATCHES);
  loaded.sort((a, b) => a - b);
  const verdicts = [14, 20, 30, 40, 50, 59].map(batch => {
    const { findings } = JSON.parse(told(['--format', 'json', '--at', `${loaded[batch].toFixed(4)}s`]));
    return findings.map(({ verdict, place }) => `${verdict} ${place?.line}`).join();
  });
  assert.ok(verdicts.includes('rising 8'), verdicts.join('; '));
  assert.ok(!verdicts.some(verdict => verdict.includes('leak')), verdicts.join('; '));
});
