// Parts of the recorded timeline, in as many buckets as requested.
import {
  bucketsOf,
  type NamedRange,
  type PassBegins,
  type Timeline,
  type TimelineQuery,
} from '../../extension/protocol/trace';

/** What held before the first bucket holds at its begin. */
export function timelineOf(whole: Timeline, { fromNs, toNs, buckets }: TimelineQuery): Timeline {
  const all = bucketsOf(whole, Infinity).filter(({ beginNs, endNs }) => endNs > fromNs && beginNs < toNs);
  const width = Math.max((toNs - fromNs) / buckets, 1);
  const joined = new Map<number, [number, number, number, number]>();
  for (const { beginNs, min, max, last } of all) {
    const at = Math.floor((Math.max(beginNs, fromNs) - fromNs) / width);
    const known = joined.get(at);
    const made: [number, number, number, number] = known
      ? [known[0], Math.min(known[1], min), Math.max(known[2], max), last]
      : [Math.max(beginNs, fromNs), min, max, last];
    joined.set(at, made);
  }
  return Float64Array.from([...joined.values()].flat());
}

interface Span {
  fromNs: number;
  toNs: number;
}

/** The pass that continues when the span begins is one of them. */
export function passesIn(all: PassBegins, { fromNs, toNs }: Span): PassBegins {
  const begins = Array.from({ length: all.length / 2 }, (_, i) => all.subarray(2 * i, 2 * i + 2));
  const inside = begins.filter(([ns = 0], i) => ns < toNs && (begins[i + 1]?.[0] ?? Infinity) > fromNs);
  return Float64Array.from(inside.flatMap(pair => [...pair]));
}

export function rangesIn(
  all: readonly NamedRange[],
  { fromNs, toNs, leastNs = 0 }: Span & { leastNs?: number },
): NamedRange[] {
  return all.filter(({ beginNs, endNs }) => {
    const end = endNs ?? Infinity;
    return beginNs < toNs && end > fromNs && end - beginNs >= leastNs;
  });
}
