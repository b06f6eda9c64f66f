// What is seen on a terminal while a program runs and when it has ended, and what keys do. `npm test -- cli --update` keeps the screens.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Place, python, root, until } from './launcher';
import { onTerminal, type Seen } from './terminalScreen';
import { masked } from '../masked.mjs';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const SMALL: [number, number] = [24, 80];
const SIZES: [number, number][] = [SMALL, [50, 120]];

/** Eighty steps that each keep a tensor, beside what stays; then it waits for `go`. */
const JOB = `import os, sys, time
import gpu
print("terminal:", os.isatty(0), os.isatty(1), os.isatty(2), flush=True)
def allocate_key_and_value_projections():
    return gpu.empty(96 << 20)
def allocate_feed_forward():
    return gpu.empty(64 << 20)
def loss_of_a_training_step_with_its_whole_graph():
    return gpu.empty(3 << 20)
weights = [allocate_key_and_value_projections(), allocate_feed_forward()]
kept = []
for step in range(80):
    kept.append(loss_of_a_training_step_with_its_whole_graph())
    gpu.empty(4096)
print("80 steps", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
`;

/** A place with that job in it, and the words that run it live. */
function placed(t: TestContext, job = JOB): { place: Place; live(...more: string[]): string[] } {
  const place = new Place(t);
  place.env.PYTHONPATH = join(root, 'test/workloads');
  place.write('train.py', job);
  const run = ['run', '--simulate-gpu', '--interval', '100ms'];
  return { place, live: (...more) => [...run, ...more, '--', python, 'train.py'] };
}

/** A path is as long as it is, so that it may wrap. */
const kept = (screen: string): string =>
  masked(screen, root, true).replace(/^(?:\/|PLACE).*(?:\n\S+gputrace)?$/gm, 'TRACE');

/** The screen comes to be what is kept; `pattern`: what it has by then. */
async function compare(name: string, seen: Seen, pattern: RegExp): Promise<void> {
  const file = join(root, 'test/cli/screens', name);
  const now = (): string => `${kept(seen.screen())}\n`;
  if (process.env.UPDATE_GOLDEN) await seen.shows(pattern).then(() => writeFileSync(file, now()));
  const expected = existsSync(file) ? readFileSync(file, 'utf8') : '';
  assert.match(expected, pattern);
  await until(() => now() === expected).catch(() => assert.equal(now(), expected, name));
}

for (const size of SIZES) {
  const named = `${size[1]}x${size[0]}`;
  test(`at ${named}: below the program’s output, and the end`, async t => {
    const { place, live } = placed(t);
    const seen = onTerminal(place, size, live());
    await compare(`${named}.beside.txt`, seen, / 79 [^]*B\/step +leak/);
    place.write('go', '');
    assert.equal(await seen.ended(), 0);
    await compare(`${named}.end.txt`, seen, /TOTAL LIVE/);
  });

  test(`at ${named}: the whole terminal, where the program’s output goes to a file`, async t => {
    const { place, live } = placed(t);
    const seen = onTerminal(place, size, live('--log', 'x.log'));
    await compare(`${named}.view.txt`, seen, / 79 [^]*B\/step +leak/);
    place.write('go', '');
    assert.equal(await seen.ended(), 0);
    // Terminals leave the cursor on the last letter of a full row, so wiping behind it would take that letter.
    assert.doesNotMatch(seen.raw().replaceAll('\x1b', 'ESC'), /\SESC\[mESC\[K/);
    assert.match(seen.screen(), /\.gputrace$/);
    assert.equal(readFileSync(place.path('x.log'), 'utf8'), 'terminal: False False False\n80 steps\n');
  });
}

test('what was alive stays in sight while a program that has freed it comes to its end', async t => {
  const freeing = `${JOB.split('while not')[0]}weights, kept = [], []
open("freed", "w")
while not os.path.exists("go"): time.sleep(0.01)
`;
  const { place, live } = placed(t, freeing.replace('print("80', 'time.sleep(1)\nprint("80'));
  const seen = onTerminal(place, SMALL, live('--log', 'x.log'));
  await seen.shows(/^.*0 B .* [\d.]+ m?s\n[^]*LEAK[^]*240 MiB in 80/m);
  seen.type('n');
  assert.doesNotMatch(await seen.shows(/, by blocks/), /alive now|240 MiB/);
  place.write('go', '');
  assert.equal(await seen.ended(), 0);
  assert.match(seen.screen(), /LEAK: train\.py:9/);
});

test('keys sort, filter, scroll and leave; the program goes on, and the end comes', async t => {
  const { place, live } = placed(t);
  const seen = onTerminal(place, SMALL, live('--log', 'x.log'));
  await seen.shows(/, by bytes\n.*loss_of_a_training/);
  seen.type('n');
  await seen.shows(/, by blocks\n.*loss_of_a_training/);
  seen.type('l');
  await seen.shows(/, by line\n.*allocate_key/);
  seen.type('/feed');
  await seen.shows(/, by line · filter: feed\n.*allocate_feed_forward\n\n[^]*: feed_$/);
  seen.type('\x7f\x7f\x7f\x7ftrain.py:7');
  await seen.shows(/filter: train\.py:7\n.*allocate_feed_forward\n\n/);
  seen.type(`${'\x7f'.repeat(10)}>90mb\r`);
  await seen.shows(/filter: >90mb\n.*allocate_key.*\n.*loss_of_a_training.*\n\n[^]*q quit$/);
  seen.type('/\x1b');
  await seen.shows(/, by line\n.*allocate_key.*\n.*allocate_feed/);
  seen.type('q');
  assertSentence(await seen.shows(/^gpu-memtrace: /m));
  place.write('go', '');
  assert.equal(await seen.ended(), 0);
  assert.match(seen.screen(), /^LIVE BY/m);
});

test('a terminal that gets another size is drawn anew', async t => {
  const resize = 'os.system("stty rows 20 cols 100 < /dev/tty")\n';
  const { place, live } = placed(t, JOB.replace('print("80', `${resize}print("80`));
  const seen = onTerminal(place, [50, 120], live('--log', 'x.log', '--interval', '1m'));
  await seen.shows(/^(?:.*\n){19}b bytes.*q quit$/);
  seen.type('\x03');
  assert.equal(await seen.ended(), 130);
});

test('Ctrl+Z gives the shell its screen, and the view comes back with the program; Ctrl+C ends it', async t => {
  const { place, live } = placed(t);
  const line = 'set -m; "$@"; echo stopped; read; fg; echo "status $?"';
  const seen = onTerminal(place, SMALL, live('--log', 'x.log'), line);
  await seen.shows(/B\/step +leak[^]*q quit$/);
  seen.type('\x1a');
  assert.doesNotMatch(await seen.shows(/^stopped$/m), /B\/step/);
  seen.type('\r');
  await seen.shows(/B\/step +leak[^]*q quit$/);
  seen.type('\x03');
  assert.equal(await seen.ended(), 0);
  assert.match(seen.screen(), /^status 130$/m);
});

test('a program that shares the terminal has it as without us: it is one, and keys are the program’s', async t => {
  const { place, live } = placed(t, `${JOB.split('while not')[0]}print("typed", input(), flush=True)\n`);
  const seen = onTerminal(place, [30, 80], live());
  await seen.shows(/^terminal: True True True$[^]*B\/step +leak/m);
  seen.type('q\r');
  assert.equal(await seen.ended(), 0);
  assert.match(seen.screen(), /^typed q$/m);
});
