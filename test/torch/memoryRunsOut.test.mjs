// Memory that runs out on a real PyTorch: the kind, the line, and the first advice, which is tried: the bytes that it promised are there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const MB = 1 << 20;
/** `told(name)` prints what is alive: the last line of a name before the failure is that of the moment. */
const HEAD = `import sys
import torch

def told(name):
    print(name, as_gpu.allocated_bytes(), flush=True)

`;

const LEAK = `net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).to("cuda")
optimizer = torch.optim.Adam(net.parameters())
history = []
for step in range(150):
    told(step)
    x = torch.randn(1024, 256, device="cuda")
    out = net(x)
    history.append(out)
    loss = (out - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
`;
const BATCH = `layers = [torch.nn.Linear(512, 512).to("cuda") for _ in range(12)]
optimizer = torch.optim.Adam([p for layer in layers for p in layer.parameters()])
for step in range(24):
    size = int(sys.argv[1]) if step == 20 else 500
    x = torch.randn(size, 512, device="cuda")
    for number, layer in enumerate(layers):
        if step == 20:
            told(number)
        x = layer(x)
    loss = x.mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
const GRADIENTS = `layers = [torch.nn.Linear(1024, 1024).to("cuda") for _ in range(12)]
optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()])
for step in range(40):
    x = torch.randn(16 if step < 30 else 8000, 1024, device="cuda")
    for layer in layers:
        x = layer(x)
    optimizer.zero_grad()
    x.mean().backward()
    optimizer.step()
`;

/** A run of such a job on a GPU of so many bytes: its newest failure, the document, stderr, and what was told, by name. */
function traced(t, name, body, { megabytes = 0, words = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-oom-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `${name}.py`);
  writeFileSync(file, HEAD + body);
  const report = join(folder, 'report.json');
  const options = ['run', '--simulate-gpu', '-o', join(folder, 't.gputrace'), '--report', report];
  const command = [inRoot('dist/cli.js'), ...options, '--', process.env.GMT_TORCH_PYTHON, onCpu(file), ...words];
  const env = { ...process.env, ...cpuVariables(megabytes * MB) };
  const { stdout, stderr, status } = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  const documents = readdirSync(folder).filter(one => one.endsWith('.md'));
  const told = new Map(stdout.split('\n').map(line => line.split(' ')));
  return {
    ...{ status, stderr, told },
    failure: JSON.parse(readFileSync(report, 'utf8')).oom.at(-1),
    document: documents.map(one => readFileSync(join(folder, one), 'utf8')).join(),
  };
}

const lineOf = (body, text) => (HEAD + body).split('\n').findIndex(line => line.includes(text)) + 1;

function near(promised, there) {
  assert.ok(Math.abs(promised - there) <= 0.1 * promised, `promised ${promised}, there are ${there}`);
}

test('memory ran out of a leak: the fix gives what it holds', t => {
  const run = traced(t, 'leak', LEAK, { megabytes: 128 });
  const { cause, advice, wentOn } = run.failure;
  assert.deepEqual([run.status, cause, wentOn], [1, 'leak', false], run.stderr);
  const fix = 'history.append(out.detach().cpu())';
  assert.ok(advice[0].text.includes(fix), advice[0].text);
  assert.match(run.document, new RegExp(`^\\*\\*.*leak\\.py:${lineOf(LEAK, 'history.append')} `, 'm'));
  assert.match(run.stderr, /^ {2}Try first \(saves about [\d.]+ MiB\): Write `history/m);
  assert.doesNotMatch(run.stderr, /RETRACTED/);
  assert.match(run.document, /^## .* module\n\n.*\n.*\n\| `module \[2\]` \| [\d.]+ MiB \| [\d.]+ MiB activations/m);
  const again = traced(t, 'leak_fixed', LEAK.replace('history.append(out)', fix), { megabytes: 128 });
  assert.equal(again.status, 0, again.stderr);
  const [step, bytes] = [...run.told].findLast(([name]) => name !== '');
  near(advice[0].bytes, bytes - again.told.get(step));
});

test('the batch is too big: a tenth less of it gives what is promised', t => {
  const run = traced(t, 'batch', BATCH, { megabytes: 200, words: ['10000'] });
  const { cause, advice, step, requestedBytes } = run.failure;
  assert.deepEqual([run.status, cause, step], [1, 'full', 21], run.stderr);
  assert.match(advice[0].text, /\bbatch\b/);
  assert.match(run.document, /^\*\*.*batch\.py:\d+ .*\b20\b.*19\.53 MiB.*1000 KiB/m);
  const line = lineOf(BATCH, 'x = layer(x)');
  assert.match(run.document, new RegExp(`^\`batch\\.py:${line}\` requested 19\\.53 MiB`, 'm'));
  assert.equal(advice[1].kind, 'checkpointing');
  const again = traced(t, 'batch_less', BATCH, { words: ['9000'] });
  const [number, bytes] = [...run.told].findLast(([name]) => name !== '');
  near(advice[0].bytes, bytes - again.told.get(number) + requestedBytes / 10);
});

test('gradients of the step before lie beside the activations of this one', t => {
  const { failure } = traced(t, 'gradients', GRADIENTS, { megabytes: 300 });
  const found = failure.advice.find(({ text }) => text.includes('zero_grad(set_to_none=True)'));
  near(found?.bytes ?? 0, 12 * (1024 * 1024 + 1024) * 4);
});
