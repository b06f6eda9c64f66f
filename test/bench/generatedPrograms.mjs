// Programs made by fast-check, with known truth: each keeps blocks of one line, all of them (a leak), or in a window, a cache, an epoch, a
// queue, a collector's garbage; among others of the same line that come and go.
import { build } from 'esbuild';
import fc from 'fast-check';
import { inRoot } from '../project/root.mjs';

const outfile = inRoot('build/bench/generatedPrograms.mjs');
const contents = `export { judgeTrace } from './extension/analysis/findings/verdicts';
export { THRESHOLDS } from './extension/analysis/series/thresholds';
export { RunTrace } from './test/unit/verdicts/runTrace'; export { StepRun } from './test/unit/verdicts/stepRun';
export { Random } from './test/unit/verdicts/program';`;
await build({
  stdin: { contents, resolveDir: inRoot('.'), loader: 'ts' },
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
});
const { judgeTrace, RunTrace, StepRun, Random, THRESHOLDS } = await import(outfile);
/** Of the verdicts, as they stand in the code that was built: what is written to them counts from then on. */
export { THRESHOLDS };

export const STEPS = 320;
/** How often a leak has risen, and how often something else could have been filled, when it is judged. */
export const RISES = [4, 6, 8, 10, 12, 16, 24, 40, 80];
export const FILLED = [0.5, 1, 1.25, 1.5, 2, 3, 4];
const SITE = 1;

const whole = (min, max) => fc.integer({ min, max });
const program = fc.record({
  keeps: fc.constantFrom('all', 'all', 'all', 'all', 'all', 'window', 'cache', 'epoch', 'queue', 'garbage'),
  every: fc.constantFrom(1, 1, 1, 2, 3, 5, 8, 12),
  /** What is due comes with this probability. */
  chance: fc.constantFrom(1, 1, 0.7, 0.4),
  blocks: whole(1, 4),
  /** Sizes differ by up to so much. */
  spread: fc.constantFrom(0, 0, 0.5),
  /** So often one block leaves when others come. */
  leaves: fc.constantFrom(0, 0, 0, 0.3, 0.6),
  /** Blocks of the same line that live for a step or two. */
  passing: whole(0, 3),
  begins: fc.constantFrom(1, 1, 1, 20, 60),
  bound: whole(5, 60),
  seed: whole(1, 2 ** 30),
});
export const programs = count => fc.sample(program, { numRuns: Number(count), seed: 1 });

/** Plays a program, and gives at each step end how often it has risen and how often it could have been filled. */
function play(made, watch) {
  const random = new Random(made.seed);
  const run = new StepRun();
  const size = () => 512 * Math.round(200 * (1 + made.spread * (random.next() - 0.5)));
  let [held, passing, rises, brought] = [[], [], 0, 0];
  const give = blocks => blocks.forEach(block => run.free(block));
  for (let step = 1; step <= STEPS; step++) {
    give(passing.splice(0, random.between(0, passing.length)));
    for (let i = 0; i < made.passing; i++) passing.push(run.alloc(SITE, size()));
    if (step >= made.begins && step % made.every === 0 && random.chance(made.chance)) {
      for (let i = 0; i < made.blocks; i++) held.push(run.alloc(SITE, size()));
      rises++;
      brought++;
      if (made.keeps === 'all' && random.chance(made.leaves)) give(held.splice(random.between(0, held.length - 1), 1));
    }
    const most = made.bound * made.blocks;
    if (made.keeps === 'window') give(held.splice(0, Math.max(0, held.length - most)));
    if (made.keeps === 'cache') while (held.length > most) give(held.splice(random.between(0, held.length - 1), 1));
    if (made.keeps === 'queue') give(held.splice(0, random.chance(0.5) ? 2 * made.blocks : 0));
    if (made.keeps === 'garbage' && held.length > most * (0.8 + 0.4 * random.next())) give(held.splice(0));
    if (made.keeps === 'epoch' && brought === made.bound) {
      give(held.splice(0));
      brought = 0;
    }
    run.endStep();
    watch(step, rises, (rises * made.blocks) / most, run);
  }
}

/**
 * Judges a program at the moments above and at its end: `judged(at, step, isNamed)`, where `isNamed()` says whether it is said to grow, and
 * `at` is null at the end. Gives whether it is a leak, and whether it got far enough to count: 12 rises, or filled twice.
 */
export function judgeMoments(made, judged) {
  const isLeak = made.keeps === 'all';
  const due = isLeak ? [...RISES] : [...FILLED];
  play(made, (step, rises, filled, run) => {
    let at = step === STEPS ? null : undefined;
    while (due.length > 0 && (isLeak ? rises : filled) >= due[0]) at = due.shift();
    if (at === undefined) return;
    const trace = keeping(new RunTrace(run));
    judged(at, step, () => judgeTrace(trace).sites.get(SITE)?.state === 'growing');
  });
  const far = isLeak ? RISES.length - due.length >= 5 : due.length <= FILLED.length - 5;
  return { isLeak, far };
}

/** Answers the same question from memory: it may be judged many times. */
function keeping(trace) {
  const known = new Map();
  const read = trace.siteSeries.bind(trace);
  trace.siteSeries = query => {
    const key = JSON.stringify(query);
    if (!known.has(key)) known.set(key, read(query));
    return known.get(key);
  };
  return trace;
}
