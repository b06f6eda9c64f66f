// What the header counts: steps, rounds of a loop, or nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutOfMemory, ProcessSteps } from '../../../extension/protocol/trace';
import { failedStep, lastStepText } from '../../../webview/explorer/common/counts';

const textOf = (...steps: (readonly [ProcessSteps['source'], number])[]): string =>
  lastStepText({ outOfMemory: [], steps: steps.map(([source, count]) => ({ source, count }) as ProcessSteps) });

test('the header has the last step of the process that is farthest', () => {
  assert.equal(textOf(['optimizer', 5], ['optimizer', 1200]), 'step 1,200');
});

test('rounds of a loop are steps, as in all views, and slices of time are nothing', () => {
  assert.equal(textOf(['periodic', 18]), 'step 18');
  assert.equal(textOf(['time', 200]), '');
  assert.equal(textOf(['time', 200], ['optimizer', 5]), 'step 5');
  assert.equal(textOf(['optimizer', 0], ['time', 200]), '');
  assert.equal(textOf(), '');
});

test('no later moment is in a step before the one that an allocation failed in', () => {
  const failure = (process: number, timeNs: number, step: number): OutOfMemory =>
    ({ process, timeNs, snapshot: { step } }) as OutOfMemory;
  const steps = [{ process: 0, source: 'optimizer', count: 10 }] as ProcessSteps[];
  const ranOut = { steps, outOfMemory: [failure(0, 100, 4), failure(0, 900, 11), failure(1, 950, 30)] };
  assert.equal(lastStepText(ranOut), 'step 11');
  assert.equal(lastStepText({ ...ranOut, outOfMemory: [failure(0, 100, 4)] }), 'step 10');
  const at = [50, 100, 899, 900, 1000].map(timeNs => failedStep(ranOut, 0, timeNs));
  assert.deepEqual(at, [0, 4, 4, 11, 11], 'steps of another process are not known');
});
