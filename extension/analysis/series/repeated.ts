/** Blocks of a call site that stay: in a step, up to the end of the last one, and of the step that runs. 0 per step: not known. */
export interface Repeated {
  perStep: number;
  before: number;
  running: number;
}

/** Sums of fractions are a little less than whole numbers. */
const NEARLY = 1e-6;

/**
 * `more`: of call sites that repeat together, the blocks of the running step of each that all of them have come to. What only some of them have
 * allocated once more belongs to work that is not done, and nothing else retains it yet. A step ends anywhere in that work.
 * `steps`: that all of them have come to, from where they were counted.
 */
export function cameTo(sites: readonly Repeated[]): { steps: number; more: number[] } {
  const steps = Math.min(
    ...sites.map(({ perStep, before, running }) => (perStep > 0 ? (before + running) / perStep : Infinity)),
  );
  const more = sites.map(({ perStep, before, running }) =>
    perStep > 0 ? Math.max(0, Math.min(running, Math.floor(steps * perStep - before + NEARLY))) : 0,
  );
  return { steps: Math.floor(steps + NEARLY), more };
}
