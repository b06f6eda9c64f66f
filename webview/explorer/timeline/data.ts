// The questions of the timeline about a window, and how their answers are read.
import type { Timeline } from '../../../extension/protocol/trace';
import type { DrawnSeries } from './chart';
import { highestBucket, lastBytes, toPoints, type Point } from './timelinePoints';
import type { TimeWindow } from '../state/zoom';
import { firstWhere } from '../../../extension/base/bisect';

export const DRAWN: readonly DrawnSeries[] = ['tensor', 'reserved', 'driver'];
const MAX_BUCKETS = 16_384;
/** A bucket is shorter than so many times what was requested. */
const WIDEST = 2;

export type Question = ReturnType<typeof questionFor>;

/** Two questions in one: the window, and what was held before it. */
export function questionFor(window: TimeWindow, pixels: number, scope: { process: number; device: number }) {
  const buckets = Math.min(Math.max(Math.round(pixels), 1), MAX_BUCKETS); // two points a bucket, one bucket a pixel
  const fromNs = Math.floor(window.fromNs);
  const toNs = Math.ceil(window.toNs);
  return {
    window,
    bucketNs: (toNs - fromNs) / buckets,
    /** So many pixels are served by these buckets. */
    fits: (pixels: number): boolean => Math.abs(Math.min(pixels, MAX_BUCKETS) - buckets) <= buckets * 0.1,
    series: [
      ...DRAWN.map(series => ({ series, ...scope, fromNs, toNs: toNs + 1, buckets })),
      ...DRAWN.map(series => ({ series, ...scope, fromNs: 0, toNs: Math.max(fromNs, 1), buckets: 1 })),
    ],
  };
}

export class TimelineData {
  constructor(
    readonly question: Question,
    private readonly answers: readonly Timeline[],
  ) {}

  /** `until`: the held values are drawn up to here (ns). */
  points(series: DrawnSeries, until: number): Point[] {
    const { window, bucketNs } = this.question;
    const reach = { fromNs: window.fromNs, toNs: Math.max(window.toNs, until) };
    return toPoints(this.timeline(series), this.before(series), reach, bucketNs);
  }

  /** A moment at a pointed time of which the figure is known, and that: within a bucket its end, where everything in it has happened. */
  momentAt(series: DrawnSeries, timeNs: number): { timeNs: number; bytes: number } {
    const { window, bucketNs } = this.question;
    const timeline = this.timeline(series);
    const later = firstWhere(timeline.length / 4, bucket => timeline[4 * bucket]! > timeNs);
    if (later === 0) return { timeNs, bytes: this.before(series) };
    const [beginNs, bytes] = [timeline[4 * later - 4]!, timeline[4 * later - 1]!];
    const endNs = Math.min(timeline[4 * later] ?? window.toNs, beginNs + WIDEST * bucketNs) - 1;
    return { timeNs: timeNs - beginNs > bucketNs ? timeNs : Math.max(timeNs, endNs), bytes };
  }

  /** The series holds something in the window. */
  has(series: DrawnSeries): boolean {
    return this.before(series) > 0 || this.timeline(series).length > 0;
  }

  /** The highest bucket of the window: when it begins and ends (ns), and its most bytes. */
  peak(series: DrawnSeries): { fromNs: number; toNs: number; bytes: number } | null {
    const { window } = this.question;
    const at = highestBucket(this.timeline(series));
    if (at < 0) return null;
    const timeline = this.timeline(series);
    const fromNs = Math.max(timeline[at]!, window.fromNs);
    return { fromNs, toNs: Math.max((timeline[at + 4] ?? window.toNs) - 1, fromNs), bytes: timeline[at + 2]! };
  }

  private timeline(series: DrawnSeries): Timeline {
    return this.answers[DRAWN.indexOf(series)] ?? new Float64Array();
  }

  private before(series: DrawnSeries): number {
    if (this.question.window.fromNs <= 0) return 0;
    return lastBytes(this.answers[DRAWN.length + DRAWN.indexOf(series)], 0);
  }
}
