// What builds up to a peak, within a step or over the steps of an epoch: with its graphs the peak says so, detached it has nothing to say.
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

const EPOCHS = `
import time
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(6)]).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(3):
    total = 0.0
    for batch in range(60):
        loss = model(torch.randn(512, 128, device="cuda")).square().mean()
        loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
        total += loss
        time.sleep(0.02)
`;

async function peakOf(t, name, text) {
  const { report, stdout } = await traceText(t, name, text);
  const { buildUp, stepsBuildUp: steps } = report.peak ?? {};
  return { report, text: stdout, lines: buildUp?.map(({ place }) => place.line), steps };
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

test('losses summed with their graphs build up over each epoch, and are no leak', async t => {
  const kept = await peakOf(t, 'summed', EPOCHS);
  assert.deepEqual(kept.report.findings, []);
  assert.equal(kept.steps?.times, 2, 'the last epoch lives on');
  assert.equal(kept.steps.holder?.path, '__main__.total (its graph)');
  assert.equal(kept.steps.place.line, EPOCHS.split('\n').findIndex(line => line.includes('+= loss')) + 1);
  assert.match(kept.text, /^ {2}.* MiB .* \(2 .*summed\.py:\d+.*`\.detach\(\)`/m);
  const detached = await peakOf(t, 'apart', EPOCHS.replace('+= loss', '+= loss.detach()'));
  assert.equal(detached.steps, undefined);
});
