import assert from 'node:assert/strict';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import { endOfStep, stepAt } from '../../../extension/protocol/requests/stepTimes';
import { stepTicks } from '../../../webview/explorer/timeline/axis';
import {
  aliveAtEnd,
  between,
  bornIn,
  firstSpan,
  moveAmong,
  moveMoment,
  type MomentMove,
  nudge,
  peakPlace,
  spanText,
  timeText,
  toSteps,
} from '../../../webview/explorer/timeline/span';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

/** Steps 1–4 in one point, then 5, 6 and 7 with points of their own. */
const axis: StepTimes = {
  process: 0,
  first: Float64Array.of(1, 5, 6, 7),
  last: Float64Array.of(4, 5, 6, 7),
  endNs: Float64Array.of(400, 600, 700, 1000),
};
const window = { fromNs: 0, toNs: 1100 };

test('times and steps belong together, also where several steps share a point', () => {
  assert.deepEqual(
    [1, 100, 101, 400, 401, 600, 601, 1000, 1001].map(time => stepAt(axis, time)),
    [1, 1, 2, 4, 5, 5, 6, 7, 8],
  );
  assert.deepEqual(
    [0, 1, 2, 4, 5, 7, 8].map(step => endOfStep(axis, step)),
    [0, 100, 200, 400, 600, 1000, null],
  );
  for (let step = 1; step <= 7; step++) assert.equal(stepAt(axis, endOfStep(axis, step)!), step);
});

test('labels stand at round steps that end in the window, marks between them where there is room', () => {
  assert.deepEqual(
    stepTicks(axis, window, 3, 1e9).map(tick => tick.label),
    ['5'],
  );
  const marks = stepTicks(axis, window, 3, 10);
  assert.equal(marks.length, 7);
  assert.deepEqual(
    marks.filter(tick => tick.label !== '').map(tick => [tick.value, tick.label]),
    [[600, '5']],
  );
  assert.deepEqual(
    stepTicks(axis, { fromNs: 650, toNs: 1000 }, 8, 1e9).map(tick => tick.label),
    ['6', '7'],
  );
  assert.deepEqual(stepTicks(axis, { fromNs: 1001, toNs: 1100 }, 8, 10), []);
});

test('a span is widened to whole steps and says which', () => {
  assert.deepEqual(toSteps(between(650, 450), axis, 1100), { fromNs: 400, toNs: 700 });
  assert.equal(spanText(toSteps({ fromNs: 450, toNs: 650 }, axis, 1100), axis), 'steps 5–6');
  assert.equal(spanText(toSteps({ fromNs: 401, toNs: 500 }, axis, 1100), axis), 'step 5');
  assert.deepEqual(
    toSteps({ fromNs: 650, toNs: 1050 }, axis, 1100),
    { fromNs: 600, toNs: 1100 },
    'the running step ends now',
  );
  assert.deepEqual(toSteps({ fromNs: 3, toNs: 5 }, null, 9), { fromNs: 3, toNs: 5 });
  assert.equal(spanText({ fromNs: 1e9, toNs: 2.5e9 }, null), '1.00 s – 2.50 s');
  assert.equal(spanText({ fromNs: 600, toNs: 1100 }, axis), 'steps 6–7', 'no step is named that has not ended');
  assert.deepEqual(
    [1000, 1001].map(timeNs => timeText(timeNs, axis)),
    ['step 7', '1.0 µs'],
  );
});

test('keys move the end of a span, or all of it, by steps and never out of the run', () => {
  const span = toSteps({ fromNs: 450, toNs: 650 }, axis, 1100);
  for (const [atNs, text] of [
    [600, 'step 5'],
    [650, 'step 6'],
    [1050, 'step 7'],
  ] as const)
    assert.equal(spanText(firstSpan(window, atNs, axis), axis), text, 'one step first');
  assert.equal(spanText(nudge(span, window, 1, false, axis), axis), 'steps 5–7');
  assert.equal(spanText(nudge(span, window, -1, false, axis), axis), 'step 5');
  assert.equal(spanText(nudge(nudge(span, window, -1, false, axis), window, -1, false, axis), axis), 'step 5');
  assert.equal(spanText(nudge(span, window, 1, true, axis), axis), 'steps 6–7');
  assert.equal(spanText(nudge(nudge(span, window, 1, true, axis), window, 1, true, axis), axis), 'steps 6–7');
  assert.equal(spanText(nudge(span, window, -1, true, axis), axis), 'steps 1–5', 'four are recorded as one');
});

test('without steps they move by a part of the window and stop at its edges', () => {
  const here = { fromNs: 0, toNs: 1000 };
  assert.deepEqual(firstSpan(here, null, null), { fromNs: 450, toNs: 550 });
  assert.deepEqual(firstSpan(here, 200, null), { fromNs: 200, toNs: 300 }, 'from the shown moment on');
  assert.deepEqual(firstSpan(here, 990, null), { fromNs: 900, toNs: 1000 });
  assert.deepEqual(nudge({ fromNs: 450, toNs: 550 }, here, 1, false, null), { fromNs: 450, toNs: 570 });
  assert.deepEqual(nudge({ fromNs: 450, toNs: 550 }, here, -1, true, null), { fromNs: 430, toNs: 530 });
  assert.deepEqual(nudge({ fromNs: 5, toNs: 105 }, here, -1, true, null), { fromNs: 0, toNs: 100 });
  assert.deepEqual(nudge({ fromNs: 895, toNs: 995 }, here, 1, true, null), { fromNs: 900, toNs: 1000 });
});

test('keys go from end to end of steps, to the first and the last one, and behind that to now', () => {
  const from = (atNs: number | null, to: MomentMove): number | null => moveMoment(atNs, window, to, axis, 1100);
  assert.deepEqual([from(null, -1), from(1000, -1), from(100, -1)], [1000, 700, 100]);
  assert.deepEqual([from(600, 1), from(650, 1), from(650, -1), from(1000, 1)], [700, 700, 600, null]);
  assert.deepEqual([from(650, 'first'), from(null, 'last')], [400, 1000]);
  assert.deepEqual(
    [from(150, 1), from(450, -1), from(500, -1)],
    [400, 400, 400],
    'no end within what is recorded as one',
  );
});

test('without steps they go by a part of the window, and stay in the run', () => {
  const here = { fromNs: 500, toNs: 1000 };
  const from = (atNs: number | null, to: 1 | -1 | 'first' | 'last'): number | null =>
    moveMoment(atNs, here, to, null, 1000);
  assert.deepEqual([from(null, -1), from(600, 1), from(995, 1), from(5, -1)], [990, 610, null, 0]);
  assert.deepEqual([from(600, 'first'), from(600, 'last')], [0, null]);
});

test('what a span shows: born after its begin, at the latest at its end; or alive at the end', () => {
  const span = { fromNs: 400, toNs: 700 };
  const [born, alive] = [bornIn(span, axis, null), aliveAtEnd(span, axis)];
  assert.deepEqual(born.moment, { kind: 'born', fromNs: 401, toNs: 700 });
  assert.deepEqual(alive.moment, { kind: 'at', timeNs: 700 });
  const ending = { timeNs: 900, step: 9, when: 'at the end of step 9', title: '', show: '', reason: '', bytes: 1 };
  const before = bornIn(span, axis, ending);
  assert.deepEqual(before.moment, { ...born.moment, atNs: 900 }, 'not of an end that holds nothing');
  assertSentence(before.title);
  assert.deepEqual(bornIn(span, axis, { ...ending, timeNs: 300 }), born, 'a span behind it');
  assertSentence(born.title);
  assertSentence(alive.title);
  assert.equal(aliveAtEnd({ fromNs: 0, toNs: 2e9 }, null).title, 'Live at 2.00 s');
});

test('keys go from one moment that can be shown to the next', () => {
  const moments = [10, 20, 40];
  for (const [at, to, next] of [
    [null, -1, 40],
    [null, 1, null],
    [40, -1, 20],
    [20, 'page-on', 40],
    [40, 1, null],
    [10, -1, 10],
    [null, 'first', 10],
    [10, 'last', 40],
  ] as const)
    assert.equal(moveAmong(at, moments, to), next, `${at} ${to}`);
});

test('a peak is in a step, or after the last one', () => {
  const at = (timeNs: number): string => peakPlace({ fromNs: timeNs, toNs: timeNs }, axis);
  assert.deepEqual([at(650), at(1050)], ['in step 6', 'after step 7']);
  assert.equal(peakPlace({ fromNs: 1, toNs: 1 }, null), '');
});
