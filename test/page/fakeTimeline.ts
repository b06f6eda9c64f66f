// What the fake host answers about the timeline: groups, steps, peaks and other moments.
import type { Moment } from '../../extension/protocol/requests/moment';
import { untilOf } from '../../extension/protocol/requests/moment';
import type {
  MomentReading,
  Peak,
  PeakQuery,
  ColouredStack,
  PeakCard,
  StackGroup,
  StackQuery,
  TimelineSteps,
} from '../../extension/protocol/requests/timelineRequests';
import { PASSES, type NamedRange, type Pass, type Timeline, type TimelineQuery } from '../../extension/protocol/trace';

const GB = 1024 ** 3;
const STEPS = 412;
const CATEGORIES = ['parameter', 'optimizer', 'gradient', 'activation', 'buffer', 'workspace'] as const;
/** What each group holds at the run's begin and at its end. */
const HELD: readonly [number, number][] = [
  [0.3, 2.6],
  [1.4, 1.4],
  [0.8, 0.8],
  [0.4, 0.4],
  [0.3, 0.3],
  [0.2, 0.2],
];
const READINGS = 6;
let readings = 0;

export function stackedTimeline(query: StackQuery, runNs: number): ColouredStack {
  const toNs = Float64Array.from({ length: STEPS }, (_, i) => (runNs * (i + 1)) / STEPS);
  const groups = HELD.slice(0, query.top);
  const bytes = (factor: number): Float64Array =>
    Float64Array.from(
      groups.flatMap(([a, b]) => Array.from(toNs, (_, i) => factor * (a + ((b - a) * i) / STEPS) * GB)),
    );
  return {
    fromNs: 0,
    toNs,
    unfinished: 1,
    groups: groups.map(group),
    slots: [...groups.keys()],
    hues: [],
    heldBytes: bytes(1),
    mostBytes: bytes(1.3),
  };
}

function group(_: readonly [number, number], i: number): StackGroup {
  const [file, line] = [`/home/user/project/${['train.py', 'model.py', 'optim/adam.py'][i % 3]}`, 41 + 71 * i];
  const owner = { process: 0, thread: i % 3 };
  return { file, line, function: 'forward', source: 'python', category: CATEGORIES[i]!, ...owner };
}

export function timelineSteps(runNs: number): TimelineSteps {
  const numbers = Float64Array.from({ length: STEPS }, (_, i) => i + 1);
  const endNs = numbers.map(step => (runNs * step) / STEPS);
  return {
    axis: { process: 0, first: numbers, last: numbers, endNs },
    lost: Float64Array.of(endNs[60]!, endNs[72]!),
    searches: Float64Array.of(endNs[260]! - 4e9, endNs[260]!),
    collections: Float64Array.of(endNs[58]!, endNs[200]!, endNs[201]!),
  };
}

/** As exact as a bucket of the answers. */
export function peakInside({ series, fromNs, toNs }: PeakQuery, timeline: (query: TimelineQuery) => Timeline): Peak {
  const buckets = timeline({ series, fromNs, toNs, buckets: 4096 });
  let best = 0;
  for (let at = 0; at < buckets.length; at += 4) if (buckets[at + 2]! > buckets[best + 2]!) best = at;
  return { fromNs: buckets[best]!, toNs: buckets[best]!, bytes: buckets[best + 2]! };
}

let held = false;
/** A moment is never read to its end, so that a test on a slow machine can cancel it. */
export const holdReading = (on: boolean): void => void (held = on);

/** A moment is read after a few questions. */
export function readMoment(moment: Moment): MomentReading {
  const untilNs = untilOf(moment);
  if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
  readings = held ? Math.min(readings + 1, READINGS - 1) : (readings % READINGS) + 1;
  return { done: readings === READINGS, readNs: (untilNs * readings) / READINGS, untilNs, bytes: 3 * GB };
}

/** In each step a forward and a backward pass, the optimizer, and a pause; every fiftieth is an evaluation. Behind the last one a forward pass runs. */
export function passes(runNs: number): Float64Array {
  const parts = (step: number): [number, Pass][] =>
    step % 50 === 49
      ? [
          [0, 'evaluation'],
          [0.9, 'other'],
        ]
      : [
          [0, 'forward'],
          [0.4, 'backward'],
          [0.8, 'optimizer'],
          [0.95, 'other'],
        ];
  const all = Array.from({ length: STEPS }, (_, step) => step).flatMap(step =>
    parts(step).flatMap(([part, pass]) => [((step + part) * runNs) / STEPS, PASSES.indexOf(pass)]),
  );
  return Float64Array.from([...all, runNs, PASSES.indexOf('forward')]); // which goes on
}

/** In each step a range with two in it, and below each of these two more; the last step goes on. */
export function ranges(runNs: number, leastNs: number): NamedRange[] {
  const within = (name: string, from: number, to: number): NamedRange => {
    const [beginNs, endNs] = [from, to].map(steps => (steps * runNs) / STEPS) as [number, number];
    return { name, beginNs, endNs: to >= STEPS ? null : endNs, thread: 0 };
  };
  const all = Array.from({ length: STEPS }, (_, step) => [
    within('train_step', step, step + 1),
    ...[0, 0.4].flatMap((part, layer) => [
      within(`layer ${layer}`, step + part, step + part + 0.4),
      within('attention', step + part, step + part + 0.2),
      within('softmax', step + part, step + part + 0.1),
      within('mlp', step + part + 0.2, step + part + 0.4),
    ]),
  ]);
  return all.flat().filter(({ beginNs, endNs }) => (endNs ?? runNs) - beginNs >= leastNs);
}

export const PEAK_CARD: PeakCard = {
  sentence: '61.3 GiB of tensors on cuda:0, reached in the backward pass of model.layers.0.self_attn in step 212',
  place: { file: '/home/user/project/model.py', line: 88 },
  bytes: 61.3 * GB,
  categories: [
    { category: 'activation', bytes: 38 * GB },
    { category: 'optimizer', bytes: 10.8 * GB },
    { category: 'parameter', bytes: 5.4 * GB },
    { category: 'gradient', bytes: 5.4 * GB },
    { category: 'unnamed', bytes: 1.7 * GB },
  ],
  modules: [
    { label: 'model.layers.0–31.self_attn (32 of 672 MiB)', bytes: 21 * GB },
    { label: 'model.layers.0–31.mlp (32 of 512 MiB)', bytes: 16 * GB },
    { label: 'lm_head', bytes: 4.1 * GB },
    { label: 'model.embed_tokens', bytes: 3.2 * GB },
  ],
  modulesLeftOut: 4,
  buildUp: [
    {
      sentence:
        '2.40 GiB of it builds up within the step: 24 tensors that model.py:92 allocated outlive it. Call `.detach()` on what you only report.',
      path: '',
      place: { file: '/home/user/project/model.py', line: 92 },
    },
  ],
  next: 'The next highest peak of this step is 58 GiB in the forward pass, so lowering only this one saves at most 3.30 GiB.',
};
