// Gradient accumulation that collects what it reports: with its graphs the peak says so, detached it has nothing to say.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { runJob } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const PROGRAM = `
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(6)]).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(6):
    collected = []
    for batch in range(12):
        scores = model(torch.randn(512, 128, device="cuda"))
        entropy = scores.sigmoid().mean(dim=-1)
        scores.square().mean().backward()
        collected.append(entropy)
    optimizer.step()
    optimizer.zero_grad()
    del collected, scores, entropy
`;
const LINE = PROGRAM.split('\n').findIndex(line => line.includes('sigmoid')) + 1;

async function peakOf(t, name, text) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-built-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, trace] = [join(folder, `${name}.py`), join(folder, `${name}.gputrace`)];
  writeFileSync(file, text);
  const how = { python: process.env.GMT_TORCH_PYTHON, env: cpuVariables() };
  const { report } = await runJob(onCpu(file), { ...how, options: ['--simulate-gpu', '-o', trace] });
  const { stdout } = spawnSync(process.execPath, [inRoot('dist/cli.js'), 'report', trace], { encoding: 'utf8' });
  return { text: stdout, lines: report.peak?.buildUp.map(({ place }) => place.line) };
}

test('outputs collected with their graphs build up within the step', async t => {
  const kept = await peakOf(t, 'collected', PROGRAM);
  assert.deepEqual(kept.lines, [LINE]);
  assert.match(kept.text, /^PEAK: .* of tensors on gpu_0/m);
  assert.match(
    kept.text,
    new RegExp(`^ {2}[23]\\.\\d+ MB of it builds up within the step: \\d+ tensors that collected\\.py:${LINE} `, 'm'),
  );
  const detached = await peakOf(t, 'detached', PROGRAM.replace('append(entropy)', 'append(entropy.detach())'));
  assert.equal(detached.lines, undefined);
  assert.match(detached.text, /^6 steps \(optimizer\)$/m);
  assert.doesNotMatch(detached.text, /^PEAK: /m);
});
