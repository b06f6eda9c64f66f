/** Blocks of a call site that stay: in a step, up to the end of the last one, and of the step that runs. 0 per step: not known. */
export interface Repeated {
  perStep: number;
  before: number;
  running: number;
}

/** Sums of fractions are a little less than whole numbers. */
const NEARLY = 1e-6;

/**
 * How far call sites that repeat together have all come: the steps, and of each how many blocks that is more, or less, than before the step that
 * runs. What only some of them have allocated once more belongs to work that is not done, and nothing else retains it yet. A step ends
 * anywhere in that work.
 */
export function cameTo(sites: readonly Repeated[]): { steps: number; more: number[] } {
  const known = sites.filter(({ perStep }) => perStep > 0);
  // Of a line that works twice in a step, once is no step.
  const steps = Math.min(
    ...known.map(({ perStep, before, running }) => {
      const come = (before + running) / perStep;
      return perStep > 1 ? Math.floor(come + NEARLY) : come;
    }),
  );
  const more = sites.map(({ perStep, before, running }) => {
    if (perStep <= 0) return 0;
    const exact = Math.max(-perStep, Math.min(running, steps * perStep - before));
    return exact < 0 ? Math.round(exact) : Math.floor(exact + NEARLY);
  });
  return { steps: Math.floor(steps + NEARLY), more };
}
