// How many blocks and bytes a finding says are kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { Finding } from '../../../extension/protocol/verdicts';
import { RunTrace } from '../runs/runTrace';
import { type Block, StepRun } from '../runs/stepRun';

const KB = 1024;
const MB = 1024 * KB;

function playing(steps: number, act: (step: number, run: StepRun) => void): StepRun {
  const run = new StepRun();
  for (let step = 1; step <= steps; step++) {
    act(step, run);
    run.endStep();
  }
  return run;
}
function onlyFinding(run: StepRun): Finding {
  const [finding, ...more] = judgeTrace(new RunTrace(run)).findings;
  assert.ok(finding !== undefined && more.length === 0);
  return finding;
}

test('gradients that the newest step still has, and what the first one made, are not counted as kept', () => {
  let gradients: Block[] = [];
  const run = playing(30, (step, run) => {
    for (const block of gradients) run.free(block);
    run.alloc(1, 4 * KB);
    gradients = Array.from({ length: 10 }, () => run.alloc(1, 20 * KB));
    if (step === 1) run.alloc(1, 8 * MB);
  });
  const finding = onlyFinding(run);
  assert.deepEqual([finding.count, finding.bytes, finding.blocksPerStep], [30, 120 * KB, 1]);
});

test('blocks that stay every 10th step, or for thousands of steps, are all counted', () => {
  for (const [steps, each] of [
    [100, 10],
    [3000, 1],
    [2500, 5],
  ] as const) {
    const finding = onlyFinding(playing(steps, (step, run) => step % each === 0 && run.alloc(1, MB)));
    assert.deepEqual([finding.count, finding.bytes], [steps / each, (steps / each) * MB]);
  }
});
