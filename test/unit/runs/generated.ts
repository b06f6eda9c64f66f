// Programs made by fast-check, with known truth: each keeps blocks of one line, all of them (a leak), or in a window, a cache, an epoch, a
// queue, a collector's garbage; among others of the same line that come and go.
import fc from 'fast-check';
import { Random } from './program';
import { StepRun, type Block } from './stepRun';

export const GENERATED_STEPS = 320;
export const GENERATED_SITE = 1;

const whole = (min: number, max: number) => fc.integer({ min, max });
export const generated = fc.record({
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
export type Generated = typeof generated extends fc.Arbitrary<infer T> ? T : never;

/** Plays a program, and gives at each step end how often it has risen and how often it could have been filled. */
export function playGenerated(
  made: Generated,
  watch: (step: number, rises: number, filled: number, run: StepRun) => void = () => undefined,
  run = new StepRun(),
): void {
  const random = new Random(made.seed);
  const size = () => 512 * Math.round(200 * (1 + made.spread * (random.next() - 0.5)));
  const held: Block[] = [];
  const passing: Block[] = [];
  let [rises, brought] = [0, 0];
  const give = (blocks: Block[]) => blocks.forEach(block => run.free(block));
  for (let step = 1; step <= GENERATED_STEPS; step++) {
    give(passing.splice(0, random.between(0, passing.length)));
    for (let i = 0; i < made.passing; i++) passing.push(run.alloc(GENERATED_SITE, size()));
    if (step >= made.begins && step % made.every === 0 && random.chance(made.chance)) {
      for (let i = 0; i < made.blocks; i++) held.push(run.alloc(GENERATED_SITE, size()));
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
