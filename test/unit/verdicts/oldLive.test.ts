import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateOldLive } from '../../../extension/analysis/oldLive';
import { StepRun, type Block } from './stepRun';

/** What is estimated for site 1 beside what it is. */
function compared(act: (run: StepRun) => void): [number[], number[]] {
  const run = new StepRun();
  for (let step = 0; step < 20; step++) {
    act(run);
    run.endStep();
  }
  const series = run.series({ process: 0, layer: 'tensor', from: 0, to: 1, points: 64 });
  const column = (name: string): number[] =>
    Array.from((series as unknown as Record<string, Float64Array>)[name] ?? []);
  const estimate = estimateOldLive({
    live: column('liveCount'),
    allocated: column('stepAllocations'),
    freed: column('stepFrees'),
    oldFreed: column('oldFrees'),
  });
  return [estimate, column('oldLiveCount')];
}

test('kept blocks and blocks that go at once are told apart to the block', () => {
  const [kept, truth] = compared(run => [run.alloc(1, 8), run.pass(1, 8)]);
  assert.deepEqual(kept, truth);
  assert.equal(truth.at(-1), 18);
});

test('a window of the last five is exact, gradients of the step before are a constant too high', () => {
  const held: Block[] = [];
  const [window, truth] = compared(run => {
    held.push(run.alloc(1, 8));
    if (held.length > 5) run.free(held.shift());
  });
  assert.deepEqual(window, truth);
  let gradient: Block | undefined;
  const [estimate, none] = compared(run => {
    run.free(gradient);
    gradient = run.alloc(1, 8);
  });
  assert.deepEqual([estimate.slice(2), none.slice(2)], [new Array(18).fill(1), new Array(18).fill(0)]);
});
