import { remembered } from '../base/maps';
import type { Planned } from './calls';
import { castsOf, parametersOf } from './checkpointing';
import type { SizedRun } from './otherBatch';
import { categoryOf, passOf } from './recordedRun';

/**
 * The plan with parameters in bfloat16: they, their gradients and the optimizer's states take half, and autocast has no copies to make.
 * Activations stay as recorded, which is the most that they take. `found`: how many parameters.
 */
export function withHalfParameters(
  sized: SizedRun,
  planned: readonly Planned[],
): { planned: Planned[]; found: number } {
  const { run } = sized;
  const parameters = parametersOf(run);
  const forward = new Map<number, Planned[]>();
  let found = 0;
  for (const one of planned) {
    const step = run.step[one.allocation] ?? 0;
    const category = categoryOf(run, one.allocation);
    if (category === 'parameter') found++;
    if (category === 'activation') remembered(forward, step, () => []).push(one);
  }
  const casts = new Set([...forward.values()].flatMap(made => [...castsOf(sized, parameters, made)]));
  const all = planned
    .filter(one => !casts.has(one))
    .map(one => {
      const isOptimizer = passOf(run, one.allocation) === 'optimizer';
      const isModel = isOptimizer || ['parameter', 'gradient', 'optimizer'].includes(categoryOf(run, one.allocation));
      return isModel ? { ...one, share: (one.share ?? 1) / 2 } : one;
    });
  return { planned: all, found };
}
