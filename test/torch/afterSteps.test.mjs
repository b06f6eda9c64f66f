// What a program does once it is trained ends no steps: that memory piles up there is said, and no more than that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceText } from './onCpu.mjs';

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

const traced = (t, name, rest) => traceText(t, name, TRAINING + rest);

for (const [name, rest, line] of [
  ['summed', SUMMED, 16],
  ['of_a_function', OF_A_FUNCTION, 16],
])
  test(`memory that piles up behind the last step is told (${name})`, async t => {
    const { report, stdout } = await traced(t, name, rest);
    assert.equal(report.steps.count, 40);
    assert.match(report.steps.after?.line ?? '', new RegExp(`^${name}.py:${line} `));
    assert.ok(report.steps.after.bytes > 5 * MB && report.steps.after.bytes < 20 * MB, report.steps.after.bytes);
    assert.doesNotMatch(stdout, /^NO LEAK/m);
    assert.match(stdout, new RegExp(`[\\d.]+ MiB .* ${name}.py:${line}\\b`));
  });

test('a test that keeps nothing leaves the verdict as it is', async t => {
  const { report, stdout } = await traced(t, 'clean', CLEAN);
  assert.equal(report.steps.after, null);
  assert.match(stdout, /^NO LEAK .*\.$/m);
});
