// Gradient accumulation that collects what it reports: with its graphs the peak says so, detached it has nothing to say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceText } from './onCpu.mjs';

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
  const { report, stdout } = await traceText(t, name, text);
  return { text: stdout, lines: report.peak?.buildUp.map(({ place }) => place.line) };
}

test('outputs collected with their graphs build up within the step', async t => {
  const kept = await peakOf(t, 'collected', PROGRAM);
  assert.deepEqual(kept.lines, [LINE]);
  assert.match(kept.text, /^PEAK: .* cuda:0/m);
  assert.match(kept.text, new RegExp(`^ {2}[23]\\.\\d+ MiB .*: \\d+ tensors .*collected\\.py:${LINE}\\b`, 'm'));
  const detached = await peakOf(t, 'detached', PROGRAM.replace('append(entropy)', 'append(entropy.detach())'));
  assert.equal(detached.lines, undefined);
  assert.match(detached.text, /^6 steps \(optimizer\)$/m);
  assert.doesNotMatch(detached.text, /^PEAK: /m);
});
