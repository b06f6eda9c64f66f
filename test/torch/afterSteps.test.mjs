// What a program does once it is trained ends no steps: that memory piles up there is said, and no more than that.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const TRAINING = `
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
criterion = torch.nn.MSELoss()
for step in range(40):
    x = torch.randn(64, 64, device="cuda")
    optimizer.zero_grad()
    criterion(model(x), x).backward()
    optimizer.step()
`;
const SUMMED = `
total = 0.0
for batch in range(200):
    x = torch.randn(64, 64, device="cuda")
    total = total + criterion(model(x), x)
`;
const OF_A_FUNCTION = `
def test():
    outputs = []
    for batch in range(200):
        outputs.append(model(torch.randn(64, 64, device="cuda")))
    return len(outputs)
test()
`;
const CLEAN = `
with torch.no_grad():
    total = 0.0
    for batch in range(200):
        x = torch.randn(256, 64, device="cuda")
        total += criterion(model(x), x).item()
`;
const MB = 1 << 20;

/** The report of such a program, and what the command says of its trace. */
async function traced(t, name, rest) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-after-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `${name}.py`);
  writeFileSync(file, TRAINING + rest);
  const trace = join(folder, `${name}.gputrace`);
  const how = { python: process.env.GMT_TORCH_PYTHON, env: cpuVariables() };
  const { report } = await runJob(onCpu(file), { ...how, options: ['--simulate-gpu', '-o', trace] });
  const { stdout } = spawnSync(process.execPath, [inRoot('dist/cli.js'), 'report', trace], { encoding: 'utf8' });
  return { report, stdout };
}

for (const [name, rest, line] of [
  ['summed', SUMMED, 16],
  ['of_a_function', OF_A_FUNCTION, 16],
])
  test(`memory that piles up behind the last step is told (${name})`, async t => {
    const { report, stdout } = await traced(t, name, rest);
    assert.equal(report.steps.count, 40);
    assert.match(report.steps.after?.line ?? '', new RegExp(`^${name}.py:${line} `));
    assert.ok(report.steps.after.bytes > 5 * MB && report.steps.after.bytes < 20 * MB, report.steps.after.bytes);
    assert.doesNotMatch(stdout, /NO LEAK FOUND/);
    assert.match(stdout, new RegExp(`memory rose by [\\d.]+ MB after the last step.* most at ${name}.py:${line} `));
  });

test('a test that keeps nothing leaves the verdict as it is', async t => {
  const { report, stdout } = await traced(t, 'clean', CLEAN);
  assert.equal(report.steps.after, null);
  assert.match(stdout, /^NO LEAK FOUND\.$/m);
});
