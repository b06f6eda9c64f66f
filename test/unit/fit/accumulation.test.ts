import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accumulated } from '../../../extension/fit/accumulation';
import { asRecorded } from '../../../extension/fit/calls';
import { madeRun, type Made } from './madeRun';

const own = (pass: Made['pass'], begin: number, end?: number): Made => ({
  ...{ bytes: 1000, begin, pass },
  ...(end !== undefined && { end }),
});

/** Two steps of a parameter's run: an activation, a temporary, the gradient, and what the optimizer needs for a moment. */
const RUN = madeRun([
  own('other', 3),
  ...[100, 200].flatMap((at, step) =>
    [
      own('forward', at + 3, at + 23),
      own('backward', at + 15, at + 20),
      own('backward', at + 19, at + 51),
      own('optimizer', at + 31, at + 40),
    ].map(one => ({ ...one, step: step + 1 })),
  ),
]);

test('passes run twice; the gradients stay from the first time on, and what is added to them goes at once', () => {
  const { planned, found: gradients } = accumulated(RUN, asRecorded(RUN));
  assert.equal(gradients, 2);
  const lives = (allocation: number): [number, number][] =>
    planned.filter(one => one.allocation === allocation).map(({ begin, end }) => [begin, end]);
  assert.deepEqual(lives(0), [[3, Infinity]]);
  assert.deepEqual(lives(4), [[131, 140]], 'one optimizer step');
  for (const [allocation, begin, end] of [
    [1, 103, 123],
    [2, 115, 120],
  ] as const) {
    const [first, second, ...more] = lives(allocation);
    assert.deepEqual([second, more], [[begin, end], []]);
    assert.ok(first !== undefined && first[0] > 100 && first[0] < first[1] && first[1] < 103, String(first));
  }
  const [gradient, added] = lives(3);
  assert.ok(gradient !== undefined && gradient[0] < 103 && gradient[1] === 151);
  assert.ok(added !== undefined && added[0] === 119 && added[1] > 119 && added[1] < 131);
  const order = planned.filter(({ allocation, begin }) => [1, 2, 3].includes(allocation) && begin < 103);
  assert.deepEqual(
    order.toSorted((a, b) => a.begin - b.begin).map(({ allocation }) => allocation),
    [1, 2, 3],
  );
});

test('a workspace that stays is made the first time', () => {
  const workspace: Made = { bytes: 1000, begin: 116, pass: 'backward', category: 'workspace' };
  const run = madeRun([own('forward', 103, 123), workspace, own('backward', 119, 151), own('optimizer', 131, 140)]);
  const { planned } = accumulated(run, asRecorded(run));
  const lives = planned.filter(one => one.allocation === 1);
  assert.equal(lives.length, 1);
  assert.ok((lives[0]?.begin ?? 0) < 103 && lives[0]?.end === Infinity);
});

test('a run without gradients that stay until its optimizer step is left as it is', () => {
  const run = madeRun([own('forward', 3, 23), own('backward', 15, 20), own('optimizer', 31, 40)]);
  assert.deepEqual(accumulated(run, asRecorded(run)), { planned: asRecorded(run), found: 0 });
});
