// Each rule about one site, in words and numbers.
import assert from 'node:assert/strict';
import { STEP_LOST_EVENTS, STEP_PAUSED } from '../../../extension/protocol/trace';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { SiteVerdict, Verdicts } from '../../../extension/protocol/verdicts';
import { Random } from '../runs/program';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun, type Block } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;

/** Plays `act` for `steps` steps. */
function playing(steps: number, act: (step: number, run: StepRun) => void, run = new StepRun()): StepRun {
  for (let step = 1; step <= steps; step++) {
    act(step, run);
    run.endStep();
  }
  return run;
}
function verdictOf(run: StepRun, site = 1, facts: RunFacts = {}): SiteVerdict {
  const verdict = judgeTrace(new RunTrace(run, facts)).sites.get(site);
  assert.ok(verdict !== undefined);
  return verdict;
}
const stateOf = (run: StepRun, site = 1, facts: RunFacts = {}): string => verdictOf(run, site, facts).state;
const keep = (_: number, run: StepRun): unknown => run.alloc(1, MB);

test('one block kept in each step from step 1 is growing, by its size, since step 1, from 11 steps on', () => {
  const verdict = verdictOf(playing(20, keep));
  assert.deepEqual(
    [verdict.state, verdict.grows, verdict.sinceStep, verdict.bytesPerStep],
    ['growing', 'blocks', 1, MB],
  );
  assert.equal(verdict.period, 1);
  assertSentence(verdict.because);
  assert.equal(stateOf(playing(10, keep)), 'unknown');
  assert.equal(stateOf(playing(11, keep)), 'growing');
});

test('more and more blocks at each step’s end are growth, though each step replaces them', () => {
  const piling = (steps: number): StepRun => {
    let before: Block[] = [];
    return playing(steps, (step, run) => {
      for (const block of before) run.free(block);
      before = Array.from({ length: 1 + Math.floor(step / 5) }, () => run.alloc(1, MB));
    });
  };
  const verdict = verdictOf(piling(60));
  assert.deepEqual([verdict.state, verdict.grows, verdict.period], ['growing', 'level', 5]);
  assertSentence(verdict.because);
  assert.equal(stateOf(piling(25)), 'transient', 'too few');
});

test('too few steps: unknown, and how many more it takes', () => {
  for (const ended of [false, true])
    for (const steps of [8, 10]) assertSentence(verdictOf(playing(steps, keep), 1, { ended }).because);
});

test('confidence rises with each step of growth', () => {
  const at = (steps: number): number => verdictOf(playing(steps, keep)).confidence;
  assert.ok(at(13) > 0.85 && at(13) < 0.95 && at(25) > at(13) && at(120) === 0.99);
});

test('growth that began at step 500 is since step 500, and named by step 511', () => {
  const run = playing(511, (step, run) => (step >= 500 ? run.alloc(1, MB) : run.pass(1, MB)));
  assert.deepEqual([verdictOf(run).state, verdictOf(run).sinceStep], ['growing', 500]);
});

test('every third, fifth and tenth step: growing after six rises behind the warm-up, with that period', () => {
  for (const [every, steps] of [
    [3, 26],
    [5, 42],
    [10, 74],
  ] as const) {
    const verdict = verdictOf(playing(steps, (step, run) => step % every === 0 && run.alloc(1, MB)));
    assert.deepEqual([verdict.state, verdict.period], ['growing', every]);
    assert.ok(Math.abs(verdict.bytesPerStep - MB / every) < 0.15 * MB, `${verdict.bytesPerStep}`);
  }
});

test('one block that is concatenated to is growing in size, at one line', () => {
  let whole: Block | undefined;
  const run = playing(30, (_, run) => {
    const before = whole;
    whole = run.alloc(1, (before?.bytes ?? 0) + MB);
    run.free(before);
  });
  const verdict = verdictOf(run);
  assert.deepEqual([verdict.state, verdict.grows, verdict.bytesPerStep], ['growing', 'size', MB]);
  assertSentence(verdict.because);
});

// Measured on a GPU: what PyTorch handed out for a tensor of one unit more a step.
const HANDED_OUT: Record<string, { unit: number; units: number[] }> = {
  'too big now and then': {
    unit: MB / 4,
    units: [0, 1, 2, 3, 4, 5, 6, 7, 11, 9, 11, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
  },
  'too big in every second step': {
    unit: MB / 32,
    units: Array.from({ length: 67 }, (_, step) => (step >= 35 && step % 2 === 1 ? 67 : step + 1)),
  },
};
for (const [name, { unit, units }] of Object.entries(HANDED_OUT)) {
  test(`what an allocator adds to a block does not hide that it grows: ${name}`, () => {
    let whole: Block | undefined;
    const run = playing(units.length - 1, (step, run) => {
      const before = whole;
      whole = run.alloc(1, (units[step] ?? 0) * unit);
      run.free(before);
    });
    const verdict = verdictOf(run);
    assert.deepEqual([verdict.state, verdict.grows], ['growing', 'size']);
  });
}

test('a block replaced by one of another size is transient', () => {
  let last: Block | undefined;
  const run = playing(60, (step, run) => {
    const before = last;
    last = run.alloc(1, (1 + (step % 7)) * MB);
    run.free(before);
  });
  assert.equal(stateOf(run), 'transient');
});

test('blocks that get bigger because all inputs do are transient', () => {
  let last: Block | undefined;
  const run = playing(40, (step, run) => {
    const before = last;
    last = run.alloc(1, (10 + step) * MB);
    run.free(before);
    for (const site of [2, 3, 4]) run.pass(site, (10 + step) * MB);
  });
  assert.equal(stateOf(run), 'transient');
  assertSentence(verdictOf(run).because);
});

test('a line’s blocks that get bigger by a thousandth follow something else', () => {
  const grown = (base: number): string => {
    let last: Block | undefined;
    return stateOf(
      playing(150, (step, run) => {
        if (step === 1) run.alloc(1, base);
        const before = last;
        last = run.alloc(1, (100 + step) * 512);
        run.free(before);
      }),
    );
  };
  assert.deepEqual([grown(512), grown(64 * MB)], ['growing', 'plateau']);
});

test('an LRU cache of 32: growing while it fills, a sawtooth once it replaces', () => {
  const held: Block[] = [];
  const cache = (step: number, run: StepRun): void => {
    held.push(run.alloc(1, step * 1024));
    if (held.length > 32) run.free(held.shift());
  };
  const verdict = verdictOf(playing(60, cache));
  assert.equal(verdict.state, 'sawtooth');
  assertSentence(verdict.because);
});

test('a buffer that fills up in 100 of 150 steps and stays is a plateau', () => {
  const verdict = verdictOf(playing(150, (step, run) => step <= 100 && run.alloc(1, MB)));
  assert.equal(verdict.state, 'plateau');
  assertSentence(verdict.because);
});

test('a cache of shapes that come ever more rarely is a plateau before it is full', () => {
  const seen = new Set<number>();
  let state = 3;
  const run = playing(150, (_, run) => {
    state = (state * 48271) % 2147483647;
    const shape = state % 40;
    if (!seen.has(shape)) run.alloc(1, MB);
    seen.add(shape);
  });
  assert.equal(stateOf(run), 'plateau');
});

test('what gathers over an epoch of 40 steps and goes is a sawtooth with that period', () => {
  let held: Block[] = [];
  const run = playing(150, (step, run) => {
    held.push(run.alloc(1, MB));
    if (step % 40 === 0) held = held.splice(0).filter(block => run.free(block));
  });
  const verdict = verdictOf(run);
  assert.deepEqual([verdict.state, verdict.period], ['sawtooth', 40]);
  assertSentence(verdict.because);
});

test('a ramp more than twice as high and long as all before it is growing again', () => {
  let held: Block[] = [];
  const run = playing(120, (step, run) => {
    held.push(run.alloc(1, MB));
    if (step === 20 || step === 40) held = held.splice(0).filter(block => run.free(block));
  });
  assert.deepEqual([stateOf(run), verdictOf(run).sinceStep], ['growing', 41]);
});

test('one list of eight that is never emptied is growing beneath the others, which have an early peak', () => {
  const episodes = (steps: number, stuck: number): StepRun => {
    const random = new Random(5);
    const lists: Block[][] = Array.from({ length: 8 }, () => []);
    return playing(steps, (step, run) => {
      for (const [i, list] of lists.entries()) {
        list.push(run.alloc(1, MB));
        if (i !== stuck && random.chance(step < 60 ? 0.01 : 0.2)) for (const block of list.splice(0)) run.free(block);
      }
    });
  };
  const verdict = verdictOf(episodes(300, 5));
  assert.deepEqual([verdict.state, verdict.grows, verdict.period], ['growing', 'blocks', 1]);
  assert.ok(Math.abs(verdict.bytesPerStep / MB - 1) < 0.05, String(verdict.bytesPerStep));
  assertSentence(verdict.because);
  for (const steps of [100, 150, 200, 250, 300]) assert.equal(stateOf(episodes(steps, -1)), 'sawtooth');
});

test('what makes room by chance keeps blocks of every age, and is bounded', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const kept: Block[] = [];
    const run = playing(400, (_, run) => {
      for (let i = 0; i < 2; i++) {
        const place = random.between(0, 59);
        run.free(kept[place]);
        kept[place] = run.alloc(1, MB);
      }
    });
    assert.notEqual(stateOf(run), 'growing', `seed ${seed}`);
  }
});

test('the rate is what each step keeps, also where the newest has kept nothing yet', () => {
  const run = playing(60, (step, run) => (step < 60 ? run.alloc(1, MB) : undefined));
  assert.equal(verdictOf(run).bytesPerStep, MB);
});

test('what each epoch leaves is growing beneath what it gives back', () => {
  let held: Block[] = [];
  const run = playing(185, (step, run) => {
    held.push(run.alloc(1, MB));
    if (step % 20 !== 0) return;
    for (const block of held.slice(2)) run.free(block);
    held = [];
  });
  const { state, bytesPerStep } = verdictOf(run);
  assert.deepEqual([state, Math.round(bytesPerStep / MB / 0.02)], ['growing', 5]);
});

test('weights are one-shot, optimizer state named by the agent is a plateau', () => {
  const run = new StepRun();
  run.site(2, { category: 'optimizer' });
  playing(20, (step, run) => step === 1 && [run.alloc(1, MB), run.alloc(2, MB)], run);
  assert.deepEqual([stateOf(run, 1), stateOf(run, 2)], ['one-shot', 'plateau']);
});

test('optimizer state that grows by layers takes three times the rises of a leak', () => {
  const growing = (steps: number): StepRun => {
    const run = new StepRun();
    run.site(1, { category: 'optimizer' });
    return playing(steps, keep, run);
  };
  assert.equal(stateOf(growing(16)), 'unknown');
  assert.equal(stateOf(growing(40)), 'growing');
});

test('copies of parameters take half again the rises of a leak, parameters that are trained three times', () => {
  const copied = (steps: number, trained: boolean): StepRun => {
    const run = new StepRun();
    run.site(1, { category: 'parameter' });
    run.site(2, { category: 'gradient' });
    return playing(
      steps,
      (step, run) => {
        if (step % 2 !== 0) return;
        run.alloc(1, MB);
        if (trained) run.alloc(2, MB);
      },
      run,
    );
  };
  assert.deepEqual([stateOf(copied(12, false)), stateOf(copied(18, false))], ['unknown', 'growing']);
  assert.deepEqual([stateOf(copied(16, true)), stateOf(copied(44, true))], ['unknown', 'growing']);
});

test('a line grows by its level where several stacks that reach it replace the blocks of each other', () => {
  const states = (lines: Record<number, number>): string[] => {
    let held: Block[] = [];
    const run = playing(80, (step, own) => {
      for (const block of held) own.free(block);
      held = Array.from({ length: Math.ceil(step / 5) }, () => own.alloc(step % 3 === 0 ? 2 : 1, MB));
    });
    return [1, 2].map(site => stateOf(run, site, { lines })).sort();
  };
  assert.deepEqual(states({ 1: 10, 2: 10 }), ['growing', 'transient']);
  assert.deepEqual(states({ 1: 10, 2: 20 }), ['transient', 'transient']);
});

test('models that are kept, with steps of training between them, are one suspicion at the line that makes them until there are many', () => {
  const kept = (models: number): Verdicts => {
    const run = new StepRun();
    run.site(1, { category: 'parameter' });
    run.site(2, { category: 'gradient' });
    const steps = (step: number, own: StepRun): unknown => step % 20 === 1 && [own.alloc(1, MB), own.alloc(2, MB / 2)];
    return judgeTrace(new RunTrace(playing(20 * models, steps, run)));
  };
  const [few, many] = [kept(10).findings, kept(24).findings];
  assert.deepEqual(
    few.map(({ verdict, places }) => [verdict, places[0]?.site]),
    [['rose', 1]],
  );
  assertSentence(few[0]?.suggestion);
  assert.deepEqual(
    many.map(({ verdict, places }) => [verdict, places[0]?.site]),
    [['leak', 1]],
  );
});

test('gradients, activations and prefetched batches are transient', () => {
  let gradient: Block | undefined;
  const run = playing(30, (_, run) => {
    run.pass(2, 64 * MB);
    run.free(gradient);
    gradient = run.alloc(1, MB);
  });
  assert.deepEqual([stateOf(run, 1), stateOf(run, 2)], ['transient', 'transient']);
});

test('what only the collector frees is a cycle', () => {
  let waiting: Block[] = [];
  const run = playing(70, (step, run) => {
    waiting.push(run.alloc(1, MB));
    if (step % 30 === 0) waiting = waiting.splice(0).filter(block => run.free(block, true));
  });
  assert.equal(stateOf(run), 'cycle');
});

test('cycles that no collector frees are growing', () => {
  assert.equal(stateOf(playing(40, keep)), 'growing');
});

test('one allocation eight deviations and four times above the line’s median is an anomaly', () => {
  const odd = (times: number): StepRun => playing(60, (step, run) => run.pass(1, (step === 33 ? times : 2) * MB));
  const verdict = verdictOf(odd(20));
  assert.equal(verdict.state, 'anomaly');
  assertSentence(verdict.because);
  assert.equal(stateOf(odd(7)), 'transient', '3.5 times as big');
});

test('what a line’s first step takes at once is warm-up: a library’s workspace', () => {
  assert.notEqual(stateOf(playing(60, (step, run) => run.pass(1, (step === 1 ? 20 : 2) * MB))), 'anomaly');
});

test('segments of PyTorch’s cache follow the tensors, memory from before attaching is nobody’s leak', () => {
  const run = new StepRun();
  run.site(1, { layer: 'driver', segments: true });
  run.site(2, { lineSource: 'before-attach' });
  playing(40, (_, run) => [run.alloc(1, 2 * MB), run.alloc(2, MB)], run);
  assert.deepEqual([stateOf(run, 1), stateOf(run, 2)], ['cache', 'before-attach']);
});

test('steps in which events are missing are left out, with all before them', () => {
  const run = playing(40, keep);
  run.flags.set(35, STEP_LOST_EVENTS);
  assertSentence(verdictOf(run, 1, { ended: false }).because);
  run.flags.set(35, STEP_PAUSED);
  assertSentence(verdictOf(run, 1, { ended: false }).because);
  run.flags.clear();
  run.flags.set(10, STEP_PAUSED);
  assert.equal(stateOf(run), 'growing');
});

test('events lost in no known step: above one in a hundred nothing is said to grow, below with less confidence', () => {
  const run = playing(40, keep);
  const lost = (events: number): SiteVerdict =>
    verdictOf(run, 1, { lost: { events, byCause: { 'disk full': events } } });
  assert.equal(lost(4000).state, 'unknown');
  assertSentence(lost(4000).because);
  assert.equal(lost(100).state, 'growing');
  assert.ok(lost(100).confidence < verdictOf(run).confidence);
});

test('slices of time are no steps: 40 of them tell nothing, 200 do, with less confidence', () => {
  const sliced = (steps: number): StepRun => {
    const run = playing(steps, keep);
    run.source = 'time';
    return run;
  };
  assert.equal(stateOf(sliced(40)), 'unknown');
  const verdict = verdictOf(sliced(200));
  assert.equal(verdict.state, 'growing');
  assert.ok(verdict.confidence <= 0.75);
});

test('what is freed after the last step’s end does not take the verdict back', () => {
  const run = playing(40, keep);
  for (const block of run.blocks(1)) run.free(block);
  const [finding] = judgeTrace(new RunTrace(run)).findings;
  assert.deepEqual([stateOf(run), finding?.verdict, finding?.count], ['growing', 'leak', 40]);
});

test('the same growth over 2,000 steps, of which the far past is kept in steps together', () => {
  const verdict = verdictOf(playing(2000, (step, run) => step > 100 && step % 4 === 0 && run.alloc(1, MB)));
  assert.deepEqual([verdict.state, verdict.period], ['growing', 4]);
  assert.ok(Math.abs((verdict.sinceStep ?? 0) - 104) <= 32, `${verdict.sinceStep}`);
  assert.equal(verdictOf(playing(300, keep)).sinceStep, 1);
  assert.ok(Math.abs(verdict.bytesPerStep - MB / 4) < 0.02 * MB);
});
