// Programs that leak.
import type { Block } from './stepRun';
import { KB, long, MB, recent, short, sizes, type Play, type Program, type Random } from './program';

const early = (random: Random): number => random.between(1, 10);
const later = (random: Random): number => random.between(20, 150);
const from =
  (begins: number, act: (step: number) => void): Play =>
  step => {
    if (step >= begins) act(step);
  };
const after =
  (begins: (random: Random) => number, least: number, most: number) =>
  (random: Random): number =>
    begins(random) + random.between(least, most);
function kept(site: number, perStep = 1): Program['start'] {
  return ({ run, random }, begins) => {
    const size = sizes(random);
    return from(begins, () => {
      for (let i = 0; i < perStep; i++) run.alloc(site, size());
    });
  };
}

function keptEvery(site: number, every: number, many = 1): Program['start'] {
  return ({ run, random }, begins) => {
    const size = sizes(random);
    return from(begins, step => {
      if ((step - begins) % every === 0) for (let i = 0; i < many; i++) run.alloc(site, size());
    });
  };
}

function grownBlock(every: number, parts: number): Program['start'] {
  return ({ run, random }, begins) => {
    const chunk = random.between(16, 1024) * KB;
    let whole: Block | undefined;
    return from(begins, step => {
      if ((step - begins) % every !== 0) return;
      for (let i = 0; i < parts; i++) {
        const before = whole;
        whole = run.alloc(1, (before?.bytes ?? 0) + chunk);
        run.free(before);
      }
    });
  };
}

export const LEAKS: Program[] = [
  {
    name: 'a graph of six lines a step',
    leaks: [1, 2, 3, 4, 5, 6],
    begins: early,
    steps: short,
    start: ({ run, random }, begins) => {
      const bytes = Array.from({ length: 6 }, () => random.between(1, 2000) * KB);
      return from(begins, () => bytes.forEach((size, i) => run.alloc(i + 1, size)));
    },
  },
  { name: 'outputs appended to a list', leaks: [1], begins: early, steps: short, start: kept(1) },
  { name: 'three blocks a step', leaks: [1], begins: early, steps: short, start: kept(1, 3) },
  { name: 'a tensor concatenated in each step', leaks: [1], begins: early, steps: short, start: grownBlock(1, 1) },
  {
    name: 'a tensor concatenated in every third step',
    leaks: [1],
    begins: early,
    every: 3,
    steps: short,
    start: grownBlock(3, 4),
  },
  {
    name: 'a tensor concatenated in every tenth step',
    leaks: [1],
    begins: early,
    every: 10,
    steps: long,
    start: grownBlock(10, 4),
  },
  { name: 'kept by every second step', leaks: [1], begins: early, every: 2, steps: short, start: keptEvery(1, 2) },
  { name: 'kept by every fifth step', leaks: [1], begins: early, every: 5, steps: short, start: keptEvery(1, 5, 2) },
  {
    name: 'evaluation outputs of every tenth step',
    leaks: [1],
    begins: early,
    every: 10,
    steps: long,
    start: keptEvery(1, 10, 4),
  },
  {
    name: 'a checkpoint of every 25th step',
    leaks: [1],
    begins: early,
    every: 25,
    steps: long,
    start: keptEvery(1, 25, 12),
  },
  { name: 'begins late', leaks: [1], begins: later, steps: after(later, 160, 250), start: kept(1) },
  {
    name: 'begins late on a line that worked all the time',
    leaks: [1],
    begins: () => 500,
    steps: () => 540,
    start: ({ run, random }, begins) => {
      const size = sizes(random);
      return step => (step >= begins ? run.alloc(1, size()) : run.pass(1, size()));
    },
  },
  {
    name: 'small, beside large noise on the same line',
    leaks: [1],
    begins: early,
    steps: short,
    start: ({ run, random }, begins) => {
      let held: Block[] = [];
      return step => {
        for (const block of held) run.free(block);
        held = Array.from({ length: random.between(1, 6) }, () => run.alloc(1, random.between(1, 64) * MB));
        if (step >= begins) run.alloc(1, 4 * KB);
      };
    },
  },
  {
    name: 'in one step of three by chance',
    leaks: [1],
    begins: early,
    every: 3,
    promptly: false,
    steps: long,
    start: ({ run, random }, begins) => from(begins, () => random.chance(0.35) && run.alloc(1, 64 * KB)),
  },
  {
    name: 'an exception in one step of ten keeps its frames',
    leaks: [1, 2, 3],
    begins: early,
    every: 10,
    steady: false,
    steps: long,
    start: ({ run, random }, begins) =>
      from(begins, () => {
        if (random.chance(0.1)) for (const site of [1, 1, 2, 3]) run.alloc(site, 300 * KB);
      }),
  },
  {
    name: 'gradients of each step',
    leaks: [1],
    begins: early,
    steps: short,
    start: ({ run }, begins) => from(begins, () => Array.from({ length: 8 }, () => run.alloc(1, 1 * MB))),
  },
  {
    name: 'a leak beneath a cache that empties with each epoch',
    leaks: [2],
    begins: early,
    steps: long,
    start: ({ run, random }, begins) => {
      const epoch = random.between(15, 60);
      let gathered: Block[] = [];
      return step => {
        gathered.push(run.alloc(1, 2 * MB));
        if (step % epoch === 0) gathered = gathered.splice(0).filter(block => run.free(block));
        if (step >= begins) run.alloc(2, 32 * KB);
      };
    },
  },
  {
    name: 'what an epoch leaves behind, on the line that gathers',
    leaks: [1],
    begins: () => 1,
    every: 20,
    steady: false,
    steps: long,
    start: ({ run }) => {
      let gathered: Block[] = [];
      return step => {
        gathered.push(run.alloc(1, 256 * KB));
        if (step % 20 !== 0) return;
        for (const block of gathered.slice(3)) run.free(block);
        gathered = [];
      };
    },
  },
  {
    name: 'leak beside a cache with a bound',
    leaks: [2],
    begins: early,
    steps: long,
    start: (stage, begins) => {
      const cache = recent(stage, 1, 32);
      return step => {
        cache(step);
        if (step >= begins) stage.run.alloc(2, 16 * KB);
      };
    },
  },
  {
    name: 'faster and faster',
    leaks: [1],
    begins: early,
    steps: short,
    start: ({ run }, begins) =>
      from(begins, step => Array.from({ length: 1 + Math.floor((step - begins) / 12) }, () => run.alloc(1, 128 * KB))),
  },
  {
    name: 'a set-up of many blocks, then one a step',
    leaks: [1],
    begins: later,
    steps: after(later, 160, 250),
    start: ({ run }, begins) =>
      from(begins, step => Array.from({ length: step === begins ? 40 : 1 }, () => run.alloc(1, 128 * KB))),
  },
  {
    name: 'pinned memory taken in each step',
    leaks: [1],
    begins: early,
    steps: short,
    start: (stage, begins) => {
      stage.run.site(1, { layer: 'host', device: -1, thread: 2 });
      return kept(1)(stage, begins);
    },
  },
  {
    name: 'a driver allocation in every fourth step',
    leaks: [1],
    begins: early,
    every: 4,
    steps: short,
    start: (stage, begins) => {
      stage.run.site(1, { layer: 'driver' });
      return keptEvery(1, 4)(stage, begins);
    },
  },
  {
    name: 'on the line of a window of the last 20',
    leaks: [1],
    begins: early,
    steps: long,
    promptly: false,
    steady: false,
    start: (stage, begins) => {
      const window = recent(stage, 1, 20);
      return step => {
        window(step);
        if (step >= begins) stage.run.alloc(1, 16 * KB);
      };
    },
  },
  {
    name: 'by chance up to 12 blocks a step',
    leaks: [1],
    begins: early,
    steps: short,
    start: ({ run, random }, begins) =>
      from(begins, () => Array.from({ length: random.between(0, 12) }, () => run.alloc(1, 16 * KB))),
  },
  {
    name: 'a hundred blocks over twenty steps, then one a step',
    leaks: [1],
    begins: () => 40,
    steps: long,
    promptly: false,
    steady: false,
    start: ({ run }, begins) =>
      from(begins - 20, step => Array.from({ length: step < begins ? 5 : 1 }, () => run.alloc(1, 128 * KB))),
  },
  {
    name: 'a tensor concatenated with parts of any size',
    leaks: [1],
    begins: later,
    steps: after(later, 60, 150),
    start: ({ run, random }, begins) => {
      let whole: Block | undefined;
      return from(begins, () => {
        const before = whole;
        whole = run.alloc(1, (before?.bytes ?? 0) + random.between(1, 64) * KB);
        run.free(before);
      });
    },
  },
  {
    name: 'a tensor concatenated in blocks that a cache hands out too big now and then',
    leaks: [1],
    begins: early,
    steps: short,
    start: ({ run, random }, begins) => {
      const chunk = random.between(128, 1024) * KB;
      let [whole, parts]: [Block | undefined, number] = [undefined, 0];
      return from(begins, () => {
        const before = whole;
        whole = run.alloc(1, ++parts * chunk + (random.chance(0.1) ? random.between(1, 1024) * KB : 0));
        run.free(before);
      });
    },
  },
];
