// What the timeline asks of the host for a window, and how the answers are read.
import type { Timeline, TimelineQuery, TraceInfo } from '../../extension/protocol/trace';
import type { DrawnSeries } from './chart';
import { bytesAt, lastBytes, toPoints, type Point } from './points';
import type { TimeWindow } from './zoom';

export const DRAWN: readonly DrawnSeries[] = ['tensor', 'reserved', 'driver'];
const MAX_BUCKETS = 16_384;
const MAX_DEVICES = 8; // the host takes 16 series at a time

export interface Question {
  window: TimeWindow;
  bucketNs: number;
  devices: number[];
  series: TimelineQuery[];
  /** So many pixels are served by these buckets. */
  fits(pixels: number): boolean;
}

/** Three questions in one: the window, what was held before it, and what each card's cache holds now. */
export function ask(
  window: TimeWindow,
  pixels: number,
  info: TraceInfo,
  runNs: number,
  scope: { process: number; device: number },
): Question {
  const buckets = Math.min(Math.max(Math.round(pixels), 1), MAX_BUCKETS); // two points a bucket, one bucket a pixel
  const fromNs = Math.floor(window.fromNs);
  const toNs = Math.ceil(window.toNs);
  const devices = info.devices.slice(0, MAX_DEVICES).map(device => device.index);
  return {
    window,
    bucketNs: (toNs - fromNs) / buckets,
    devices,
    fits: pixels => Math.abs(Math.min(pixels, MAX_BUCKETS) - buckets) <= buckets * 0.1,
    series: [
      ...DRAWN.map(series => ({ series, ...scope, fromNs, toNs: toNs + 1, buckets })),
      ...DRAWN.map(series => ({ series, ...scope, fromNs: 0, toNs: Math.max(fromNs, 1), buckets: 1 })),
      ...devices.map(device => ({
        series: 'reserved' as const,
        device,
        fromNs: 0,
        toNs: Math.ceil(runNs) + 1,
        buckets: 1,
      })),
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

  bytesAt(series: DrawnSeries, timeNs: number): number {
    return bytesAt(this.timeline(series), this.before(series), timeNs, this.question.bucketNs);
  }

  /** The series holds something in the window. */
  has(series: DrawnSeries): boolean {
    return this.before(series) > 0 || this.timeline(series).length > 0;
  }

  /** Bytes of the framework's segments now, by device. */
  reserved(): Map<number, number> {
    const first = DRAWN.length * 2;
    return new Map(this.question.devices.map((device, i) => [device, lastBytes(this.answers[first + i], 0)]));
  }

  private timeline(series: DrawnSeries): Timeline {
    return this.answers[DRAWN.indexOf(series)] ?? new Float64Array();
  }

  private before(series: DrawnSeries): number {
    if (this.question.window.fromNs <= 0) return 0;
    return lastBytes(this.answers[DRAWN.length + DRAWN.indexOf(series)], 0);
  }
}
