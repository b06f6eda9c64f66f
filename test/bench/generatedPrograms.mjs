// Programs made by fast-check (test/unit/runs/generated.ts), judged at moments.
import { bundled } from './bundled.mjs';

const contents = `export { judgeTrace } from './extension/analysis/findings/judgeTrace';
export { THRESHOLDS } from './extension/analysis/series/thresholds';
export { RunTrace } from './test/unit/runs/runTrace';
export * from './test/unit/runs/generated'; export { sample } from 'fast-check';`;
const made = await bundled('generatedPrograms', contents);
const { generated, GENERATED_SITE, judgeTrace, playGenerated, RunTrace, sample, THRESHOLDS } = made;
/** Of the verdicts, as they stand in the code that was built: what is written to them counts from then on. */
export { THRESHOLDS };

export const STEPS = made.GENERATED_STEPS;
/** How often a leak has risen, and how often something else could have been filled, when it is judged. */
export const RISES = [4, 6, 8, 10, 12, 16, 24, 40, 80];
export const FILLED = [0.5, 1, 1.25, 1.5, 2, 3, 4];

export const programs = count => sample(generated, { numRuns: Number(count), seed: 1 });

/**
 * Judges a program at the moments above and at its end: `judged(at, step, isNamed)`, where `isNamed()` says whether it is said to grow, and
 * `at` is null at the end. Gives whether it is a leak, and whether it got far enough to count: 12 rises, or filled twice.
 */
export function judgeMoments(made, judged) {
  const isLeak = made.keeps === 'all';
  const due = isLeak ? [...RISES] : [...FILLED];
  playGenerated(made, (step, rises, filled, run) => {
    let at = step === STEPS ? null : undefined;
    while (due.length > 0 && (isLeak ? rises : filled) >= due[0]) at = due.shift();
    if (at === undefined) return;
    const trace = keeping(new RunTrace(run));
    judged(at, step, () => judgeTrace(trace).sites.get(GENERATED_SITE)?.state === 'growing');
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
