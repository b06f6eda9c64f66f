// The program is asked by itself who holds what leaks: when, how often, and for how long it may stand still.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FirstLeaks, type OwnAnswer, type OwnQuestion } from '../../../extension/analysis/findings/firstLeaks';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { THRESHOLDS } from '../../../extension/analysis/series/thresholds';
import { STREAM_UNKNOWN } from '../../../extension/protocol/streams';
import { allocationWindow, type AllocationQuery, type AllocationWindow } from '../../../extension/protocol/trace';
import type { Finding, FindingHolder, Verdicts } from '../../../extension/protocol/verdicts';
import { RunTrace, SCRIPT, type RunFacts } from '../runs/runTrace';
import { survivorsOf } from '../../../extension/analysis/series/survivors';
import { StepRun } from '../runs/stepRun';

const MB = 1 << 20;
const ENOUGH_MS = THRESHOLDS.mostPauseMs / THRESHOLDS.little;
const HOLDER: FindingHolder = {
  path: 'main().kept',
  kind: 'container',
  file: 'train.py',
  line: 12,
  function: null,
  length: null,
  bound: null,
};
const NO_LINE: FindingHolder = { ...HOLDER, file: null, line: null };

class KeptTrace extends RunTrace {
  constructor(
    private readonly kept: StepRun,
    facts: RunFacts,
  ) {
    super(kept, facts);
  }
  override allocations({ site = 0 }: AllocationQuery): AllocationWindow {
    const rest = { process: 0, thread: 0, device: 0, layer: 'tensor', timeNs: 0, category: 'unnamed' } as const;
    const rows = this.kept.blocks(site).map(block => ({ ...block, ...rest, askedBytes: NaN, stream: STREAM_UNKNOWN }));
    return allocationWindow(rows, { total: rows.length, sumBytes: 0 });
  }
}

/** Sites 1 and 2, at lines of their own, keep memory in each step. */
function leaking(steps = 40): KeptTrace {
  const run = new StepRun();
  for (let step = 1; step <= steps; step++) {
    run.alloc(1, 2 * MB);
    if (step % 2 === 0) run.alloc(2, MB);
    run.endStep();
  }
  return new KeptTrace(run, { lines: { 1: 10, 2: 20 } });
}

/** A traced program: the questions it got, and how it answers. */
class FakeProgram {
  readonly questions: OwnQuestion[] = [];
  elapsedMs = 100 * ENOUGH_MS;
  alive = true;
  tookMs: number | null = 30;
  cut = false;
  readonly leaks: FirstLeaks;
  private answer: () => void = () => undefined;

  constructor(public source = leaking(100)) {
    const query = (question: OwnQuestion): Promise<OwnAnswer> => {
      this.questions.push(question);
      return new Promise(done => (this.answer = () => done({ pauseMs: this.tookMs, cut: this.cut })));
    };
    this.leaks = new FirstLeaks(
      source,
      () => this.alive,
      query,
      () => this.elapsedMs,
    );
  }

  judge(change: (finding: Finding) => Partial<Finding> = () => ({})): void {
    const verdicts: Verdicts = judgeTrace(this.source);
    this.leaks.check({ ...verdicts, findings: verdicts.findings.map(one => ({ ...one, ...change(one) })) });
  }

  async answered(): Promise<void> {
    this.answer();
    await new Promise(done => setImmediate(done));
  }
}

test('each leak is asked about once, one after the other', async () => {
  const program = new FakeProgram();
  program.judge();
  program.judge();
  assert.equal(program.questions.length, 1, 'the process is busy with it');
  const [first] = program.questions;
  assert.deepEqual([first?.process, first?.atStep, first?.budgetMs], [0, true, THRESHOLDS.mostPauseMs]);
  assert.ok((first?.blocks.length ?? 0) > 0);
  await program.answered();
  program.judge();
  await program.answered();
  program.judge();
  assert.equal(program.questions.length, 2);
});

test('not where the holder is known, the leak not sure, or nobody can be asked', () => {
  const program = new FakeProgram();
  program.judge(() => ({ holder: HOLDER }));
  program.judge(() => ({ confidence: 0.3 }));
  program.alive = false;
  program.judge();
  assert.equal(program.questions.length, 0);
  program.alive = true;
  program.judge();
  assert.equal(program.questions.length, 1, 'what came of nothing is not counted');
});

test('a leak that another process is worst in now is the same leak', async () => {
  const program = new FakeProgram();
  const only = ({ place }: Finding): Partial<Finding> => (place?.line === 10 ? {} : { holder: HOLDER });
  program.judge(only);
  await program.answered();
  program.judge(finding => ({ ...only(finding), process: 1 }));
  assert.equal(program.questions.length, 1);
});

test('the program stands still for a small part of its time, by what it took', async () => {
  const program = new FakeProgram();
  program.elapsedMs = THRESHOLDS.leastPauseMs / THRESHOLDS.little - 1;
  program.judge();
  assert.equal(program.questions.length, 0, 'too early');
  program.elapsedMs = ENOUGH_MS;
  program.judge();
  assert.equal(program.questions[0]?.budgetMs, THRESHOLDS.mostPauseMs);
  program.tookMs = THRESHOLDS.mostPauseMs - THRESHOLDS.leastPauseMs;
  await program.answered();
  program.judge();
  assert.equal(program.questions[1]?.budgetMs, THRESHOLDS.leastPauseMs, 'what is left');
});

test('where time ran out, it is asked again when the program has run for twice as long', async () => {
  const program = new FakeProgram();
  const only = ({ place }: Finding): Partial<Finding> =>
    place?.line === 10 ? { holder: NO_LINE } : { holder: HOLDER };
  const budgets = (): number[] => program.questions.map(({ budgetMs }) => budgetMs);
  const [least, most] = [THRESHOLDS.leastPauseMs, THRESHOLDS.mostPauseMs];
  const judgeAt = async (elapsedMs: number): Promise<void> => {
    program.elapsedMs = elapsedMs;
    program.judge(only);
    await program.answered();
  };
  const began = least / THRESHOLDS.little;
  program.cut = true;
  program.tookMs = 0;
  await judgeAt(began);
  await judgeAt(2 * began - 1);
  assert.deepEqual(budgets(), [least]);
  await judgeAt(2 * began);
  assert.deepEqual(budgets(), [least, 2 * least]);
  program.cut = false;
  await judgeAt(4 * began);
  await judgeAt(100 * began);
  assert.deepEqual(budgets(), [least, 2 * least, Math.min(most, 4 * least)], 'the last saw all');
});

test('where few rises were seen, or nobody was found, it is asked again after four times as many', async () => {
  const few = 12;
  const half = THRESHOLDS.many / 2;
  const questionsOf = async (first: number, holder: FindingHolder): Promise<number[]> => {
    const program = new FakeProgram(leaking(first));
    const only = ({ place }: Finding): Partial<Finding> => (place?.line === 10 ? {} : { holder: HOLDER });
    const counts: number[] = [];
    for (const steps of [first, 2 * first, 4 * first + few, 8 * first, 20 * first]) {
      program.elapsedMs = steps * ENOUGH_MS;
      program.source = leaking(steps);
      program.judge(counts.length === 0 ? only : finding => ({ holder, ...only(finding) }));
      await program.answered();
      counts.push(program.questions.length);
    }
    return counts;
  };
  assert.deepEqual(await questionsOf(few, HOLDER), [1, 1, 2, 2, 2]);
  assert.deepEqual(await questionsOf(half, HOLDER), [1, 1, 1, 1, 1]);
  assert.deepEqual(await questionsOf(half, NO_LINE), [1, 1, 2, 2, 2], 'its line is not known');
});

test('where it is not known how long it stood still, the most is counted', async () => {
  const program = new FakeProgram();
  program.elapsedMs = ENOUGH_MS;
  program.tookMs = null;
  program.judge();
  await program.answered();
  program.judge();
  assert.equal(program.questions.length, 1);
});

test('processes are asked beside each other, each for a part of its own time', () => {
  const program = new FakeProgram();
  program.elapsedMs = ENOUGH_MS;
  program.judge(({ place }) => ({ process: place?.line === 10 ? 0 : 1 }));
  const most = THRESHOLDS.mostPauseMs;
  assert.deepEqual(
    program.questions.map(({ process, budgetMs }) => [process, budgetMs]),
    [
      [0, most],
      [1, most],
    ],
  );
});

test('a block is looked for by the lines of the library that allocated it, and by that of the program, however deep the library is', () => {
  const inLibrary = Array.from({ length: 20 }, (_, depth) => ({
    file: '/lib/copy.py',
    line: depth + 1,
    function: 'copy',
  }));
  const run = new StepRun();
  run.alloc(1, MB);
  run.endStep();
  const trace = new KeptTrace(run, { frames: { 1: [...inLibrary, { file: SCRIPT, line: 30, function: 'main' }] } });
  const [block] = survivorsOf(trace, { process: 0, sites: [1], sinceStep: null });
  assert.deepEqual(
    block?.lines.map(({ line }) => line),
    [1, 2, 3, 4, 5, 6, 7, 8, 20, 30],
  );
});
