// What the fake host answers about the timeline: groups, steps, peaks and other moments.
import type { Moment } from '../../extension/protocol/requests/moment';
import { untilOf } from '../../extension/protocol/requests/moment';
import type {
  MomentReading,
  Peak,
  PeakQuery,
  ColouredStack,
  StackGroup,
  StackQuery,
  TimelineSteps,
} from '../../extension/protocol/requests/timelineRequests';
import type { Timeline, TimelineQuery } from '../../extension/protocol/trace';

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
    revision: 1,
    exact: 'steps',
    fromNs: 0,
    toNs,
    unfinished: 1,
    groups: groups.map(group),
    slots: [...groups.keys()],
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
    axis: { process: 0, source: 'optimizer', first: numbers, last: numbers, endNs },
    lost: Float64Array.of(endNs[60]!, endNs[72]!),
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

/** A moment is read after a few questions. */
export function readMoment(moment: Moment): MomentReading {
  const untilNs = untilOf(moment);
  if (untilNs === null) return { done: true, readNs: 0, untilNs: 0 };
  readings = (readings % READINGS) + 1;
  return { done: readings === READINGS, readNs: (untilNs * readings) / READINGS, untilNs };
}
