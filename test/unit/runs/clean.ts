// Programs without a leak.
import type { Block } from './stepRun';
import { KB, long, MB, recent, short, sizes, type Program } from './program';

const none = (name: string, steps: Program['steps'], start: Program['start']): Program => ({
  name,
  leaks: [],
  steps,
  start,
});

/** An LRU cache asked for keys that come in turn or by chance. */
function cacheOfKeys(keys: number, bound: number, inTurn: boolean): Program['start'] {
  return ({ run, random }) => {
    const held = new Map<number, Block>();
    return step => {
      const key = inTurn ? (step * 7) % keys : random.between(0, keys - 1);
      const found = held.get(key);
      held.delete(key);
      held.set(key, found ?? run.alloc(1, (16 + key) * 256));
      const oldest = held.size > bound ? [...held.keys()][0] : undefined;
      if (oldest === undefined) return;
      run.free(held.get(oldest));
      held.delete(oldest);
    };
  };
}

export const CLEAN: Program[] = [
  none('training alone', short, () => () => undefined),
  none('a cache of 32 keys, 96 in turn', long, cacheOfKeys(96, 32, true)),
  none('a cache of 32 keys, 96 by chance', long, cacheOfKeys(96, 32, false)),
  none('a cache without a bound for 24 shapes by chance', long, cacheOfKeys(24, 1000, false)),
  none('a cache without a bound for 60 shapes by chance', long, cacheOfKeys(60, 1000, false)),
  none('a cache without a bound for 7 shapes in turn', short, cacheOfKeys(7, 1000, true)),
  none('a replay buffer that fills up and stays', long, stage => {
    const bound = stage.random.between(50, 200);
    const size = sizes(stage.random);
    return step => void (step <= bound && stage.run.alloc(1, size()));
  }),
  none('a replay buffer that fills up and replaces', long, stage => recent(stage, 1, stage.random.between(50, 200))),
  none('a window of the last 20', short, stage => recent(stage, 1, 20)),
  none('outputs kept until the epoch ends', long, ({ run, random }) => {
    const epoch = random.between(10, 90);
    let gathered: Block[] = [];
    return step => {
      gathered.push(run.alloc(1, 1 * MB));
      if (step % epoch === 0) gathered = gathered.splice(0).filter(block => run.free(block));
    };
  }),
  none('epochs of unequal length', long, ({ run, random }) => {
    let gathered: Block[] = [];
    let ends = random.between(30, 50);
    return step => {
      gathered.push(run.alloc(1, 1 * MB));
      if (step < ends) return;
      ends = step + random.between(20, 50);
      gathered = gathered.splice(0).filter(block => run.free(block));
    };
  }),
  none('cycles that the collector frees', long, ({ run, random }) => {
    const period = random.between(15, 60);
    let waiting: Block[] = [];
    return step => {
      for (let i = 0; i < 3; i++) waiting.push(run.alloc(1, 256 * KB));
      if (step % period === 0) waiting = waiting.splice(0).filter(block => run.free(block, true));
    };
  }),
  none('a queue that fills and empties by chance', long, ({ run, random }) => {
    const held: Block[] = [];
    return () => {
      for (let i = random.between(0, 3); i > 0 && held.length < 12; i--) held.push(run.alloc(1, 512 * KB));
      for (let i = random.between(0, 3); i > 0; i--) run.free(held.shift());
    };
  }),
  none('a queue of any length, in balance', long, ({ run, random }) => {
    const held: Block[] = [];
    return () => {
      if (random.chance(0.5)) held.push(run.alloc(1, 512 * KB));
      else run.free(held.shift());
    };
  }),
  none('a prefetch queue of 4', short, stage => recent(stage, 1, 4)),
  none('optimizer state of layers that thaw at steps 30 and 60', long, ({ run }) => step => {
    if (step === 30 || step === 60) for (let i = 0; i < 20; i++) run.alloc(1, 1 * MB);
  }),
  none('a graph captured at step 11', short, ({ run }) => step => {
    if (step === 11) for (let i = 0; i < 30; i++) run.alloc(1, 2 * MB);
  }),
  none(
    'warm-up over the first ten steps',
    short,
    ({ run }) =>
      step =>
        void (step <= 8 && run.alloc(1, 2 * MB)),
  ),
  none('inputs that get longer with each step', short, ({ run }) => {
    let batch: Block | undefined;
    return step => {
      const before = batch;
      batch = run.alloc(1, (32 + step) * 16 * KB);
      run.free(before);
      for (let site = 2; site < 12; site++) run.pass(site, (32 + step) * 64 * KB);
    };
  }),
  none('keys and values of one generation after another', long, ({ run, random }) => {
    const tokens = random.between(20, 60);
    let cache: Block | undefined;
    return step => {
      const before = cache;
      cache = run.alloc(1, step % tokens === 0 ? 64 * KB : (before?.bytes ?? 0) + 64 * KB);
      run.free(before);
    };
  }),
  none('the best checkpoint, replaced now and then', long, ({ run, random }) => {
    let best: Block[] = [];
    return () => {
      if (!random.chance(0.05)) return;
      for (const block of best) run.free(block);
      best = Array.from({ length: 10 }, () => run.alloc(1, 4 * MB));
    };
  }),
  none('evaluation in every tenth step, freed at once', long, ({ run }) => step => {
    if (step % 10 === 0) for (let i = 0; i < 8; i++) run.pass(1, 8 * MB);
  }),
  none('a phase of 60 steps that gathers and lets go', long, ({ run, random }) => {
    const begins = random.between(20, 100);
    return step => {
      if (step >= begins && step < begins + 60) run.alloc(1, 1 * MB);
      if (step === begins + 60) for (const block of run.blocks(1)) run.free(block);
    };
  }),
  none('one step in a hundred takes fifty times as much', long, ({ run }) => step => {
    run.pass(1, (step % 150 === 77 ? 50 : 1) * MB);
  }),
  none('four rounds of gradients a step', short, ({ run }) => {
    let sums: Block[] = [];
    return () => {
      for (const block of sums) run.free(block);
      sums = [];
      for (let i = 0; i < 4; i++) sums.push(run.alloc(1, 1 * MB));
    };
  }),
  none('the loss of the last ten steps', short, stage => recent(stage, 1, 10)),
  none('segments of the cache that grow with a first epoch', long, ({ run, random }) => {
    run.site(1, { layer: 'driver', segments: true });
    return () => void (random.chance(0.3) && run.alloc(1, 2 * MB));
  }),
  none('blocks that live for up to 60 steps each, by chance', long, ({ run, random }) => {
    const life = random.between(3, 60);
    let held: { block: Block; ends: number }[] = [];
    return step => {
      if (random.chance(0.7)) held.push({ block: run.alloc(1, 64 * KB), ends: step + random.between(1, life) });
      for (const { block } of held.filter(entry => entry.ends <= step)) run.free(block);
      held = held.filter(entry => entry.ends > step);
    };
  }),
  none('a pool that swells and shrinks, slowly', long, ({ run, random }) => {
    const period = random.between(20, 60);
    const held: Block[] = [];
    return step => {
      const count = Math.round(20 + 18 * Math.sin((2 * Math.PI * step) / period));
      while (held.length < count) held.push(run.alloc(1, MB));
      while (held.length > count) run.free(held.shift());
    };
  }),
  none('four stages, each with ten blocks more, then none', long, ({ run, random }) => {
    const gap = random.between(10, 25);
    return step => {
      if (step % gap === 0 && step <= 4 * gap) for (let i = 0; i < 10; i++) run.alloc(1, MB);
    };
  }),
  none('a buffer as big as the biggest input so far', long, ({ run, random }) => {
    let buffer: Block | undefined;
    return () => {
      const bytes = random.between(1, 1000) * KB;
      if (buffer !== undefined && bytes <= buffer.bytes) return;
      const before = buffer;
      buffer = run.alloc(1, bytes);
      run.free(before);
    };
  }),
  none('a block whose size wanders', long, ({ run, random }) => {
    let [block, size]: [Block | undefined, number] = [undefined, 500];
    return () => {
      const before = block;
      size = Math.max(10, size + random.between(-50, 50));
      block = run.alloc(1, size * KB);
      run.free(before);
    };
  }),
];
