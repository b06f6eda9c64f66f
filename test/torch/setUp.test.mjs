// Loops that fill something once, and work behind them that allocates nothing: set-ups are no steps, and no leak.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceText } from './onCpu.mjs';

/** Something for each of 11 shapes, made when it is first needed; the objects of each round wake Python's collector. */
const SHAPES = `
import random
import torch

random.seed(1)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to("cuda")
made = {}

def make(rows):
    x = torch.zeros(rows, 64, device="cuda")
    with torch.no_grad():
        return x, net(x)

shapes = [1024 + 128 * i for i in range(11)]
for step in range(400):
    rows = random.choice(shapes)
    if rows not in made:
        made[rows] = make(rows)
    made[rows][0].normal_()
    objects = [[number] for number in range(3000)]
`;
/** One line loads, and what works with it is over sooner than the loading was. */
const LOADED = `
import time
import torch

weights = []
for layer in range(24):
    time.sleep(0.02)
    weights.append(torch.ones(1 << 18, device="cuda"))
for step in range(200):
    weights[step % 24].normal_()
`;

async function traced(t, name, text) {
  const { report, stdout } = await traceText(t, name, text);
  return { titles: report.findings.map(({ title }) => title), text: stdout };
}

test('what is made once for each shape is no leak, whether or not Python’s collector runs meanwhile', async t => {
  const { titles, text } = await traced(t, 'shapes', SHAPES);
  assert.deepEqual(titles, []);
  assert.match(text, /^11 rounds /m);
});

test('what one line loads in few rounds is named as rising, not as a leak', async t => {
  const { titles, text } = await traced(t, 'loaded', LOADED);
  assert.deepEqual(titles, []);
  assert.match(text, /^[A-Z].* 24 steps .* loaded\.py:8\b.* \d+ times, .* [\d.]+ \wiB\./m);
});
