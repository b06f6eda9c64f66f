// Which moment of a trace is shown when its program has ended.
import assert from 'node:assert/strict';
import { endingOf, endingWords, whenHeld } from '../../../extension/report/tables/ending';
import { THRESHOLDS } from '../../../extension/analysis/series/thresholds';
import type { MemorySnapshot, OutOfMemory, Totals, TraceInfo } from '../../../extension/protocol/trace';
import { makeProcess, makeTotals } from '../fakeTrace';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;

/** Ended after `steps` steps, at whose last end 400 MB were alive; `left` MB at its own end. */
class EndedTrace extends RunTrace {
  constructor(
    steps: number,
    private readonly more: { left: number; held?: number; info?: Partial<TraceInfo>; totals?: Partial<Totals> },
  ) {
    const run = new StepRun();
    for (let step = 1; step <= steps; step++) {
      run.pass(1, MB);
      run.endStep();
    }
    super(run, { ledger: { tensor: () => (more.held ?? 400) * MB } });
  }

  override info(): TraceInfo {
    const { left, info, totals } = this.more;
    const tensor = { liveBytes: left * MB, peakBytes: 2000 * MB, peakNs: 7e9, allocations: 9, ...totals };
    return { ...super.info(), live: false, totals: [makeTotals(tensor)], ...info };
  }
}

test('the end of the last step, where the end holds less than a share of it', () => {
  const { steps } = new EndedTrace(20, { left: 0 }).info();
  const timeNs = steps[0]?.lastEndNs;
  assert.deepEqual(endingOf(new EndedTrace(20, { left: 0 })), { timeNs, step: 20, bytes: 400 * MB, leftBytes: 0 });
  const share = 400 * THRESHOLDS.part;
  assert.equal(endingOf(new EndedTrace(20, { left: share - 1 }))?.step, 20);
  assert.equal(endingOf(new EndedTrace(20, { left: share })), null);
});

test('the peak, where no step is known or its end is empty too', () => {
  const peak = { timeNs: 7e9 + 100, step: null, bytes: 2000 * MB, leftBytes: 0 };
  assert.deepEqual(endingOf(new EndedTrace(0, { left: 0 })), peak);
  assert.deepEqual(endingOf(new EndedTrace(20, { left: 0, held: 0 })), peak);
  const slices = new EndedTrace(20, { left: 0 }).info().steps.map(steps => ({ ...steps, source: 'time' as const }));
  assert.deepEqual(endingOf(new EndedTrace(20, { left: 0, info: { steps: slices } })), peak);
  assert.equal(endingOf(new EndedTrace(0, { left: 500 })), null);
});

test('none while the program runs, of a snapshot, or where nothing was ever alive', () => {
  assert.equal(endingOf(new EndedTrace(20, { left: 0, info: { live: true } })), null);
  const notes = [{ code: 11, text: 'A memory snapshot of PyTorch.' }];
  assert.equal(endingOf(new EndedTrace(20, { left: 0, info: { processes: [makeProcess({ notes })] } })), null);
  assert.equal(endingOf(new EndedTrace(0, { left: 0, totals: { peakBytes: 0 } })), null);
});

test('figures of a finding name their moment, whichever is shown', () => {
  const ended = new EndedTrace(20, { left: 400 });
  const running = new EndedTrace(20, { left: 400, info: { live: true } });
  const leak = { verdict: 'leak', bytesAtStep: 20 } as const;
  for (const trace of [ended, running, new EndedTrace(20, { left: 0 })])
    assert.equal(whenHeld(trace, leak), 'at the end of step 20');
  const stepless = { ...leak, bytesAtStep: null };
  assert.deepEqual([whenHeld(ended, stepless), whenHeld(running, stepless)], ['at the end', 'now']);
  assert.equal(whenHeld(ended, { ...stepless, verdict: 'oom' }), 'at the failed allocation');
});

test('of several processes the last step of the one that held most, and the sum of all', () => {
  const totals = [0, 1].map(process => makeTotals({ process, allocations: 1 }));
  const steps = [0, 1].map(process => {
    return { process, source: 'optimizer' as const, count: 20 + process, lastEndNs: 5e9 - process };
  });
  const made = steps.map(entry => ({
    ...entry,
    sure: true,
    alone: false,
    parts: false,
    idleNs: 0,
    poolsNs: 0,
    touched: 0,
  }));
  // The one that ended first, of two that held as much.
  const ending = endingOf(new EndedTrace(20, { left: 0, info: { totals, steps: made } }));
  assert.deepEqual(ending, { timeNs: 5e9 - 1, step: 21, bytes: 800 * MB, leftBytes: 0 });
});

test('the failed allocation that the program ended with, however much is left; not one that it got over', () => {
  class Failed extends EndedTrace {
    override timeline() {
      return Float64Array.of(0, 1800 * MB);
    }
  }
  const made = (step: number, exitCode: number) => {
    const snapshot = { step } as MemorySnapshot;
    const at = { process: 0, device: 0, layer: 'tensor', timeNs: 6e9, snapshot } as OutOfMemory;
    const processes = [makeProcess({ exitCode })];
    return endingOf(new Failed(20, { left: 900, info: { outOfMemory: [at], processes } }));
  };
  const failed = made(21, 1);
  assert.deepEqual(failed, { timeNs: 6e9, step: null, failed: true, bytes: 1800 * MB, leftBytes: 900 * MB });
  assert.deepEqual([made(21, 0), made(9, 1)], [null, null]);
  const { title, when, reason, show } = endingWords(failed);
  assertSentence([title, when, reason, show].join('\n'));
});

test('in words', () => {
  for (const ending of [
    { step: 1200, leftBytes: 0 },
    { step: null, leftBytes: MB },
  ]) {
    const { title, when, reason, show } = endingWords(ending);
    assertSentence([title, when, reason, show].join('\n'));
  }
});
