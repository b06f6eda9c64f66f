// Which moments of two runs are compared, as the page chooses them of what the engine offers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareAnswers } from '../../../extension/engine/answers/compareAnswers';
import type { FollowedTrace } from '../../../extension/engine/followedTrace';
import { NOW, type EndMoment } from '../../../extension/protocol/requests/moment';
import { chosenPoints, comparedStep, optionOf, pointOptions } from '../../../webview/explorer/compare/comparePoints';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

function traceOf(steps: number, ending: EndMoment | null): FollowedTrace {
  const run = new StepRun();
  run.site(1);
  for (let step = 0; step < steps; step++) {
    run.alloc(1, 100);
    run.endStep();
  }
  const native = new RunTrace(run, { lines: { 1: 11 } });
  const info = { ...native.info(), live: false };
  const session = { native: Object.assign(native, { info: () => info }) };
  return { session, ending } as unknown as FollowedTrace;
}

/** Of a run that freed everything when it ended: its times were read once more, so they differ a little. */
function endOfStep(step: number): EndMoment {
  const timeNs = step * 1e8 + 3;
  return { timeNs, step, bytes: 100, title: '', when: 'at the end of the last step', reason: '', show: '' };
}

async function compared(before: number, shown: number) {
  const [own, other] = [traceOf(shown, null), traceOf(before, endOfStep(before))];
  const named = [
    { id: 0, title: 't.py', run: 2, status: '', trace: own },
    { id: 7, title: 't.py', run: 1, status: '', trace: other },
  ];
  const answers = compareAnswers({ shown: own, traces: () => Promise.resolve(named) });
  const traces = await answers.compareTraces(undefined);
  const { a, b } = chosenPoints(traces, { a: '7:now', b: null });
  const options = pointOptions(traces, NOW, 'en');
  const labels = options.map(([, label]) => label);
  assert.deepEqual(labels, [...new Set(labels)], 'one name for one moment');
  const names = [a, b].map(point => options.find(([value]) => value === optionOf(traces, point))?.[1]);
  return { step: comparedStep(traces, a, b), names: names.map(name => name?.split(' · ')[0]) };
}

test('two runs are compared at the last step of both, also of equally many and where one freed everything', async () => {
  for (const [before, shown] of [
    [5, 5],
    [5, 8],
    [8, 5],
  ] as const)
    assert.deepEqual(await compared(before, shown), { step: 5, names: ['end of step 5', 'end of step 5'] });
});
