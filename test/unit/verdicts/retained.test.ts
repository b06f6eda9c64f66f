// What a leak holds when an allocation failed: of the step that failed, what all of its lines had come to.
import assert from 'node:assert/strict';
import type { MemorySnapshot, OutOfMemory, SnapshotSite } from '../../../extension/protocol/trace';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { cameTo } from '../../../extension/analysis/series/repeated';
import { whenHeld } from '../../../extension/report/tables/ending';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
/** Lines of an iteration, in their order, and what each of them leaves. */
const LINES = { batch: 4, hidden: 5, output: 6 } as const;
type Line = keyof typeof LINES;
const BYTES: Record<Line, number> = { batch: 4 * MB, hidden: 8 * MB, output: 4 * MB };
const ITERATION = 16 * MB;

/** A step ends behind `ends`; after 30 of them an allocation fails at `failsAt` with these blocks alive, and so does the program. */
function failing(ends: Line, failsAt: Line, { exitCode = 1, more = 0, temporary = 0 } = {}) {
  const run = new StepRun();
  const order = Object.keys(LINES) as Line[];
  for (const line of order) run.site(LINES[line]);
  const until = (last: number, stop: Line | null): void => {
    while (run.count < last || order[next] !== stop) {
      const line = order[next]!;
      run.alloc(LINES[line], BYTES[line]);
      next = (next + 1) % order.length;
      if (line === ends) run.endStep();
      if (stop === null && run.count === last) return;
    }
  };
  let next = 0;
  until(30, failsAt);
  const sites = order.map((line): SnapshotSite => {
    const [count, part] = [run.blocks(LINES[line]).length, { oldestStep: 1, grownBytes: 0, activationBytes: 0 }];
    const live = { liveBytes: count * BYTES[line] + temporary, liveCount: count + Math.sign(temporary) };
    return { ...part, site: LINES[line], ...live, stepAllocatedBytes: 0, usualAllocatedBytes: 0 };
  });
  const done = Math.min(...order.map(line => run.blocks(LINES[line]).length));
  const snapshot = { step: run.count + 1, tensorBytes: done * ITERATION, sites, pools: [], categories: [] };
  const at = { process: 0, device: 0, layer: 'tensor', requestedBytes: 64 * MB, thread: 0, freeBytes: null } as const;
  const none = {
    segments: 0,
    segmentBytes: 0,
    partlyUsedSegments: 0,
    emptyBytes: 0,
    freeBytes: 0,
    largestFreeBytes: 0,
  };
  const known = { reservedBytes: null, driverBytes: 0, processBytes: null, usedBytes: null, totalBytes: null };
  const outOfMemory: OutOfMemory = {
    ...{ ...at, timeNs: 30.5e8, site: LINES[failsAt], liveBytes: done * ITERATION },
    snapshot: { ...snapshot, ...known, fragmentation: none, oldGradientBytes: 0, tracedBytes: null } as MemorySnapshot,
  };
  if (more > 0) until(30 + more, null);
  const trace = new RunTrace(run, { outOfMemory: [outOfMemory], exitCode });
  const verdicts = judgeTrace(trace);
  const [finding] = verdicts.findings;
  return { trace, finding: finding!, saved: verdicts.outOfMemory[0]?.advice[0]?.bytes, done };
}

test('wherever a step ends and an allocation fails, a leak holds the iterations that are done', () => {
  for (const ends of ['batch', 'hidden', 'output'] as const)
    for (const failsAt of ['batch', 'hidden', 'output'] as const) {
      const { finding, saved, done, trace } = failing(ends, failsAt);
      assert.deepEqual([finding.bytes, finding.count], [done * ITERATION, 3 * done], `${ends}, ${failsAt}`);
      assert.equal(saved, finding.bytes);
      assert.equal(whenHeld(trace, finding), 'at the failed allocation');
      assertSentence(finding.evidence.find(text => text.includes('the leak held')));
    }
});

test('what a line has for a while within the step that failed is not held', () => {
  const { finding, done } = failing('output', 'batch', { temporary: 8 * MB });
  assert.ok(finding.count <= 3 * (done + 1) && finding.count >= 3 * done);
  const under = failing('output', 'output', { temporary: 8 * MB });
  assert.equal(under.finding.count, 3 * (under.done + 1));
});

test('where the program continued, the advice is what the leak held then, and the finding what it holds now', () => {
  const { finding, saved, done, trace } = failing('output', 'hidden', { exitCode: 0, more: 20 });
  assert.equal(saved, done * ITERATION);
  assert.ok(finding.bytes >= 49 * ITERATION);
  assert.equal(whenHeld(trace, finding), 'at the end of step 50');
});

test('lines that repeat together come as far as the last of them', () => {
  const every = (before: number, running: number, perStep = 1) => ({ perStep, before, running });
  assert.deepEqual(cameTo([every(23, 0), every(22, 1), every(22, 1)]), { steps: 23, more: [0, 1, 1] });
  assert.deepEqual(cameTo([every(23, 1), every(23, 1), every(23, 0)]), { steps: 23, more: [0, 0, 0] });
  assert.deepEqual(cameTo([every(46, 2, 2), every(23, 3)]), { steps: 24, more: [2, 1] }, 'more than a step leaves');
  assert.deepEqual(cameTo([every(30, 1, 2), every(15, 1)]), { steps: 15, more: [0, 0] }, 'half of the step that runs');
  assert.deepEqual(cameTo([every(5, 1, 0.2), every(5, 1, 0.2)]).more, [1, 1], 'every fifth step');
  assert.deepEqual(cameTo([every(23, 1), every(3, 0, 0)]).more, [1, 0], 'unknown');
});
