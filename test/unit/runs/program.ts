// Programs as plain blocks, each played with numbers drawn from a seed, beside what every training does.
import { StepRun, type Block } from './stepRun';

export const KB = 1024;
export const MB = 1024 * KB;

/** Uniform numbers from a seed (mulberry32). */
export class Random {
  constructor(private state: number) {}
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  /** Whole numbers from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
}

export interface Stage {
  run: StepRun;
  random: Random;
}
/** What a program does in each step, beside the training around it. */
export type Play = (step: number) => void;
export interface Program {
  name: string;
  /** Sites that leak, by the time the run ends; none: no leak. */
  leaks: number[];
  /** Step at which the leak begins. */
  begins?: (random: Random) => number;
  /** Steps between two survivors, 1 where left out. */
  every?: number;
  /** False: by chance, it may begin too slowly to be named within 20 steps; its growth may pause. */
  promptly?: false;
  steady?: false;
  steps: (random: Random) => number;
  start(stage: Stage, begins: number): Play;
}

export const NOISE_SITES = [900, 901, 902, 903, 904, 905, 906];

/** Weights, optimizer state, activations, gradients, batches of changing size: what every training has. */
function training({ run, random }: Stage): Play {
  for (let i = 0; i < 4; i++) run.alloc(900, 4 * MB);
  const gradients: Block[] = [];
  let batch: Block | undefined;
  let loss: Block | undefined;
  return step => {
    const rows = 32 + 8 * random.between(0, 6);
    const before = batch;
    batch = run.alloc(901, rows * 4 * KB);
    run.free(before);
    const activations = [run.alloc(902, rows * 64 * KB), run.alloc(903, rows * 32 * KB)];
    const last = loss;
    loss = run.alloc(904, 512);
    run.free(last);
    for (const gradient of gradients.splice(0)) run.free(gradient);
    for (let i = 0; i < 4; i++) gradients.push(run.alloc(905, 4 * MB));
    for (const activation of activations) run.free(activation);
    if (step === 1) for (let i = 0; i < 8; i++) run.alloc(906, 4 * MB);
  };
}

export interface Played {
  run: StepRun;
  begins: number;
  steps: number;
}

/** Plays a program to its end; the same seed gives the same blocks. `watch` is called after each step. */
export function play(
  program: Program,
  seed: number,
  watch?: (run: StepRun, step: number, begins: number) => void,
  run = new StepRun(),
): Played {
  const random = new Random(seed);
  const stage = { run, random };
  const begins = program.begins?.(random) ?? 1;
  // A leak that begins late is given time to be seen.
  const steps = Math.max(program.steps(random), begins + 40);
  const noise = training({ run: stage.run, random: new Random(seed + 1) });
  const own = program.start(stage, begins);
  for (let step = 1; step <= steps; step++) {
    noise(step);
    own(step);
    stage.run.endStep();
    watch?.(stage.run, step, begins);
  }
  return { run: stage.run, begins, steps };
}

export const short = (random: Random): number => random.between(40, 120);
export const long = (random: Random): number => random.between(250, 400);
/** Sizes that vary from step to step, each its own program's. */
export const sizes = (random: Random): (() => number) => {
  const base = random.between(4, 512) * KB;
  const spread = random.chance(0.5) ? 0 : 0.5;
  return () => Math.round((base * (1 + spread * (random.next() - 0.5))) / 512) * 512;
};

/** Keeps the newest blocks; frees the oldest. */
export function recent({ run, random }: Stage, site: number, bound: number): Play {
  const size = sizes(random);
  const held: Block[] = [];
  return () => {
    held.push(run.alloc(site, size()));
    if (held.length > bound) run.free(held.shift());
  };
}
