// What stands on the terminal when a run has ended.
import assert from 'node:assert/strict';
import { DRIVER_SCRIPT, LEAKY_STEPS, Place, python } from './launcher';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
/** Eleven processes, each with three lines and twelve blocks. */
const JOB = `import os
for child in range(10):
    if os.fork() == 0: break
else:
    for child in range(10): os.wait()
${DRIVER_SCRIPT}kept = [alloc(${MB}) for _ in range(10)]
kept.append(alloc(${2 * MB}))
kept.append(alloc(${4 * MB}))
`;

test('the end: lines, totals, the trace’s file; at most 40 lines, and blocks only where they are asked for', async t => {
  const place = new Place(t);
  const words = ['run', '--simulate-gpu'];
  const script = place.write('job.py', JOB);
  const { stderr } = await place.run([...words, '--', python, script]);
  const lines = stderr.trimEnd().split('\n');
  assert.ok(lines.length <= 40, stderr);
  assert.doesNotMatch(stderr, /^ +0x/m);
  const at = (pattern: RegExp): number => lines.findIndex(line => pattern.test(line));
  const order = [/^LIVE BY/, /^PID: /, /^TOTAL LIVE: 16 MiB$/, /^\.\.\. .* \d+ .*: /].map(at);
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    order,
  );
  assert.ok(
    order.every(line => line >= 0),
    stderr,
  );
  assert.match(lines.at(-1) ?? '', /\/job\.py-.*\.gputrace$/);
  const listed = await place.run([...words, '--blocks', '--', python, script]);
  assert.equal(listed.stderr.match(/^ {4}0x[0-9a-f]+:gpu_0: /gm)?.length, 11 * 12);
});

test('without a terminal: a line for what is found, once, while the program runs; tables only at the end', async t => {
  const place = new Place(t);
  const wait = 'while not os.path.exists("go"): time.sleep(0.01)\n';
  const script = place.write('job.py', `${DRIVER_SCRIPT}${LEAKY_STEPS}${wait}`);
  const run = place.start(['run', '--simulate-gpu', '--interval', '0.1', '--', python, script]);
  await run.printed(/^gpu-memtrace: LEAK: job\.py:\d+ .* 512 KiB /m);
  place.write('go', '');
  const { stderr } = await run.ended;
  assertSentence(stderr.slice(0, stderr.indexOf('\n-')));
  assert.equal(stderr.match(/^gpu-memtrace: /gm)?.length, 2, stderr);
  assert.equal(stderr.match(/^LIVE BY/gm)?.length, 1, stderr);
});
