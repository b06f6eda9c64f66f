// From the host's reduced buckets to the points that are drawn.
import type { Timeline } from '../../../extension/protocol/trace';
import type { TimeWindow } from '../state/zoom';

export interface Point {
  x: number;
  y: number;
}
const FIELDS = 4; // time, min, max, last: see Timeline

/** The last value of a timeline, or `otherwise` where it has no bucket. */
export function lastBytes(timeline: Timeline | undefined, otherwise: number): number {
  return timeline && timeline.length >= FIELDS ? timeline[timeline.length - 1]! : otherwise;
}

/**
 * Points of a step line that lose no peak: lowest and highest value of each bucket, the value held where nothing changed.
 * @param before bytes when the window begins
 * @param bucketNs length of a bucket: a longer distance between two buckets means that nothing happened in between
 */
export function toPoints(timeline: Timeline, before: number, window: TimeWindow, bucketNs: number): Point[] {
  const points: Point[] = [{ x: window.fromNs, y: before }];
  let held = before;
  let heldUntil = window.fromNs;
  for (let i = 0; i + FIELDS <= timeline.length; i += FIELDS) {
    const x = Math.max(timeline[i]!, window.fromNs);
    const min = timeline[i + 1]!;
    const max = timeline[i + 2]!;
    const last = timeline[i + 3]!;
    if (x - heldUntil > bucketNs) points.push({ x, y: held });
    const risesFirst = Math.abs(max - last) > Math.abs(min - last);
    const [first, second] = risesFirst ? [max, min] : [min, max];
    points.push({ x, y: first });
    if (second !== first) points.push({ x: x + bucketNs / 2, y: second });
    const gapFollows = i + FIELDS >= timeline.length || timeline[i + FIELDS]! - x > bucketNs * 1.5;
    if (gapFollows && last !== second) points.push({ x: x + bucketNs / 2, y: last });
    held = last;
    heldUntil = x + bucketNs;
  }
  if (points[points.length - 1]!.x < window.toNs) points.push({ x: window.toNs, y: held });
  return points;
}

/** Where the highest bucket begins in the array; the first of several; -1 without one. */
export function highestBucket(timeline: Timeline): number {
  let best = -1;
  for (let at = 0; at + FIELDS <= timeline.length; at += FIELDS)
    if (best < 0 || timeline[at + 2]! > timeline[best + 2]!) best = at;
  return best;
}

/** Highest point, 0 for none. */
export function highest(points: readonly Point[]): number {
  return points.reduce((top, { y }) => Math.max(top, y), 0);
}
