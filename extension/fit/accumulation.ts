import { remembered } from '../base/maps';
import type { Planned } from './calls';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';

// Gradient accumulation: a step runs its forward and backward passes several times, and the gradients stay in between.

/** What one step runs again. */
interface Passes {
  begin: number;
  /** Where its last allocation begins. */
  end: number;
  /** Where the last allocation of the whole step begins, its optimizer's too: gradients outlive it. */
  stepEnd: number;
}

const BEFORE = 0.75;
/** Places of the run (recordedRun.ts): past what happens next. A gradient that is added to one that is there is freed then. */
const ADDED = 6;

/**
 * The plan with the passes of each step run twice. A third time would not raise the peak: all gradients exist from the second time on.
 * `found`: how many gradients stay in between; 0: none was found, and nothing is changed.
 */
export function accumulated(run: RecordedRun, planned: readonly Planned[]): { planned: Planned[]; found: number } {
  const steps = passesOf(run);
  let found = 0;
  const all = planned.flatMap((one): Planned[] => {
    const passes = steps.get(run.step[one.allocation] ?? 0);
    if (passes === undefined || one.begin < passes.begin || one.begin > passes.end) return [one];
    // All of the first time lies between two places.
    const share = BEFORE / 2 / (passes.end - passes.begin + 1);
    const first = (place: number): number =>
      passes.begin - BEFORE + (Math.min(place, passes.end + 1) - passes.begin) * share;
    // What stays for ever, such as a workspace, is made the first time.
    if (one.end === Infinity && categoryOf(run, one.allocation) !== 'gradient')
      return [{ ...one, begin: first(one.begin) }];
    const isGradient = passOf(run, one.allocation) === 'backward' && one.end > passes.stepEnd;
    if (!isGradient) return [{ ...one, begin: first(one.begin), end: first(one.end) }, one];
    found++;
    return [
      { ...one, begin: first(one.begin) },
      { ...one, end: one.begin + ADDED },
    ];
  });
  return found === 0 ? { planned: [...planned], found } : { planned: all, found };
}

function passesOf(run: RecordedRun): Map<number, Passes> {
  const steps = new Map<number, Passes>();
  for (let at = 0; at < run.count; at++) {
    const pass = passOf(run, at);
    if (pass === 'other') continue;
    const begin = run.begin[at] ?? 0;
    const step = remembered(steps, run.step[at] ?? 0, () => ({ begin: Infinity, end: 0, stepEnd: 0 }));
    step.stepEnd = Math.max(step.stepEnd, begin);
    if (pass === 'optimizer') continue;
    step.begin = Math.min(step.begin, begin);
    step.end = Math.max(step.end, begin);
  }
  return steps;
}
