// How often the verdicts are right, over programs drawn from seeds. Prints precision and recall, and a line a program.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { Verdicts } from '../../../extension/protocol/verdicts';
import { LONG } from '../../long.mjs';
import { CLEAN } from '../runs/clean';
import { LEAKS } from '../runs/leaking';
import { NOISE_SITES, play, type Program } from '../runs/program';
import { RunTrace } from '../runs/runTrace';
import type { StepRun } from '../runs/stepRun';

const ROUNDS = Number(process.env.GPU_MEMTRACE_ROUNDS ?? 1);
/** Steps from one judgement to the next. */
const APART = LONG ? 13 : 39;

function growing(verdicts: Verdicts): number[] {
  return [...verdicts.sites.values()].flatMap(({ site, state }) => (state === 'growing' ? [site] : []));
}
const judge = (run: StepRun): Verdicts =>
  judgeTrace(new RunTrace(run, { threads: ['python', 'worker', 'pin_memory'] }));

interface Score {
  found: number;
  missed: number;
  wrong: number;
  /** Runs of a leak named within 20 steps of its beginning. */
  early: number;
}

function score(program: Program): Score {
  const sum: Score = { found: 0, missed: 0, wrong: 0, early: 0 };
  for (let round = 1; round <= ROUNDS; round++) {
    const { run } = play(program, 1000 * round, (run, step, begins) => {
      if (step !== begins + 20 || program.leaks.length === 0) return;
      const named = growing(judge(run));
      if (program.leaks.every(site => named.includes(site))) sum.early++;
    });
    const named = growing(judge(run));
    const right = named.filter(site => program.leaks.includes(site)).length;
    sum.found += right;
    sum.missed += program.leaks.length - right;
    sum.wrong += named.length - right;
  }
  return sum;
}

function report(t: TestContext, programs: readonly Program[]): Score {
  const all: Score = { found: 0, missed: 0, wrong: 0, early: 0 };
  for (const program of programs) {
    const own = score(program);
    all.found += own.found;
    all.missed += own.missed;
    all.wrong += own.wrong;
    const early = program.leaks.length > 0 ? `, named within 20 steps: ${own.early} of ${ROUNDS}` : '';
    t.diagnostic(`${program.name}: ${own.found} found, ${own.missed} missed, ${own.wrong} wrong${early}`);
    if (program.leaks.length > 0 && (program.every ?? 1) <= 3 && program.promptly !== false) {
      assert.equal(own.early, ROUNDS, `${program.name}: a leak is named within 20 steps of its beginning`);
    }
  }
  return all;
}

test('precision and recall over leaking and clean programs', t => {
  assert.ok(CLEAN.length >= LEAKS.length, 'as many programs without a leak as with one');
  const leaking = report(t, LEAKS);
  const clean = report(t, CLEAN);
  const wrong = leaking.wrong + clean.wrong;
  const precision = leaking.found / (leaking.found + wrong);
  const recall = leaking.found / (leaking.found + leaking.missed);
  t.diagnostic(`precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} (sites, ${ROUNDS} rounds)`);
  assert.equal(wrong, 0);
  assert.ok(recall >= 0.97);
});

test('a verdict does not flicker: a leak once named stays named, and what fills up is at most once taken for one', () => {
  for (const program of [...LEAKS, ...CLEAN].filter(entry => entry.steady !== false)) {
    let [changes, before] = [0, false];
    play(program, 7, (run, step) => {
      if (step % APART !== 0) return;
      const named = growing(judge(run)).includes(program.leaks[0] ?? 1);
      if (named !== before) changes++;
      before = named;
    });
    assert.ok(changes <= (program.leaks.length > 0 ? 1 : 2), `${program.name}: ${changes} changes`);
  }
});

test('the training around a program is never a leak', () => {
  const { run } = play(LEAKS[0] ?? CLEAN[0]!, 5);
  const states = new Map([...judge(run).sites].map(([site, verdict]) => [site, verdict.state]));
  assert.deepEqual(
    NOISE_SITES.map(site => states.get(site)),
    ['one-shot', 'transient', 'transient', 'transient', 'transient', 'transient', 'one-shot'],
  );
});
