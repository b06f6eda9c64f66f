// What the header counts: steps, rounds of a loop, or nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessSteps } from '../../../extension/protocol/trace';
import { lastStepText } from '../../../webview/explorer/common/counts';

const textOf = (...steps: (readonly [ProcessSteps['source'], number])[]): string =>
  lastStepText({ steps: steps.map(([source, count]) => ({ source, count }) as ProcessSteps) });

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
