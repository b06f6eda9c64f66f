// Ranges of record_function on a real PyTorch: each is told with its name, nested; the program, TorchScript's use of it too, stays the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const JOB = `import torch
from torch.profiler import record_function

net = torch.nn.Linear(256, 256).to("cuda")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    with record_function("train_step"):
        with record_function("forward"):
            loss = net(torch.ones(64, 256, device="cuda")).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.jit.script
def scripted(x: torch.Tensor):
    with torch.autograd.profiler.record_function("scripted"):
        return x * 2


print(float(scripted(torch.ones(3)).sum()), record_function.__enter__.__qualname__)
try:
    with record_function("failing"):
        raise ValueError("as it was")
except ValueError as error:
    print(error, error.__traceback__.tb_next)
with torch.profiler.profile() as profile:
    with record_function("profiled"):
        net(torch.ones(4, 256, device="cuda"))
print([each.key for each in profile.key_averages() if each.key == "profiled"])
`;

test('ranges of record_function are told, and it does what it did', t => {
  const folder = mkdtempSync(join(tmpdir(), 'gmt-ranges-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'named.py'), JOB);
  const [script, trace, python] = [
    onCpu(join(folder, 'named.py')),
    join(folder, 'x.gputrace'),
    process.env.GMT_TORCH_PYTHON,
  ];
  const ask = (...words) => {
    const env = { ...process.env, ...cpuVariables() };
    const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), {
      env,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const cli = [process.execPath, inRoot('dist/cli.js')];
  const run = ask(...cli, 'run', '--simulate-gpu', '--format', 'none', '-o', trace, '--', python, script);
  assert.equal(run, ask(python, script));
  ask(...cli, 'report', trace, '--format', 'perfetto', '-o', join(folder, 'x.json'));
  const { traceEvents } = JSON.parse(readFileSync(join(folder, 'x.json'), 'utf8'));
  const own = ['train_step', 'forward', 'Optimizer.step#SGD.step', 'failing', 'profiled'];
  const found = traceEvents.filter(({ cat, ph, name }) => cat === 'range' && ph === 'b' && own.includes(name));
  const step = ['train_step', 'forward', 'Optimizer.step#SGD.step'];
  assert.deepEqual(
    found.map(({ name }) => name),
    [...Array(12).fill(step).flat(), 'failing', 'profiled'],
  );
  assert.match(ask(...cli, 'report', trace, '--at', 'peak:9'), / in “train_step( › [^”]+)?”, at /);
});
