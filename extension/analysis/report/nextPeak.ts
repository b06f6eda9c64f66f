import { numberOrNull } from '../series/statistics';
import { PASSES, type Pass, type TraceSource } from '../../protocol/trace';

const POINTS = 2_048;
const BUCKETS = 4_096;
const FIELDS = 4; // time, min, max, last: see Timeline
/** Between two peaks there is at least so much less, as a part of the higher one. */
const DIP = 0.02;

export interface StepPeak {
  process: number;
  device: number;
  timeNs: number;
  bytes: number;
  /** Of its step. */
  fromNs: number;
  toNs: number;
}
export interface NextPeak {
  bytes: number;
  /** As exact as the trace keeps it. */
  timeNs: number;
  /** null: more than one thing was done at about that time. */
  phase: Pass | null;
}

/** The steps in which a moment is, and their highest peak. Null: steps are not known. */
export function stepPeakAt(
  source: TraceSource,
  { process, device, ns }: { process: number; device: number; ns: number },
): StepPeak | null {
  const info = source.info();
  if (!info.steps.some(steps => steps.process === process && steps.source !== 'time')) return null;
  const { endNs, tensorMaxNs, tensorMaxBytes } = source.ledgerSeries({ process, device, points: POINTS });
  const at = endNs.findIndex(end => end >= ns);
  const timeNs = numberOrNull(tensorMaxNs[at]);
  if (at < 0 || timeNs === null) return null;
  return { process, device, timeNs, bytes: tensorMaxBytes[at]!, fromNs: endNs[at - 1] ?? 0, toNs: endNs[at]! };
}

/** The next highest peak of the same step: what lowers only the first one gains no more than the difference. `source`: read up to the end
 * of the step, where the recent past is kept finely. Null: there is none. */
export function nextPeak(source: TraceSource, peak: StepPeak): NextPeak | null {
  const { process, device, fromNs, toNs } = peak;
  const series = source.timeline({ series: 'tensor', process, device, fromNs, toNs, buckets: BUCKETS });
  const buckets = Array.from({ length: series.length / FIELDS }, (_, at) => ({
    beginNs: Math.max(fromNs, series[at * FIELDS]!),
    endNs: series[(at + 1) * FIELDS] ?? toNs,
    min: series[at * FIELDS + 1]!,
    max: series[at * FIELDS + 2]!,
  }));
  const top = buckets.findLastIndex(({ beginNs, max }) => beginNs <= peak.timeNs && max === peak.bytes);
  if (top < 0) return null;
  const sides = [buckets.slice(top + 1), buckets.slice(0, top).reverse()];
  const [best] = sides.flatMap(side => behindDip(side, peak.bytes) ?? []).sort((a, b) => b.max - a.max);
  if (best === undefined) return null;
  const passes = source.passes({ process, fromNs: best.beginNs, toNs: best.endNs });
  const phase = passes.length === 2 ? (PASSES[passes[1]!] ?? null) : null;
  return { bytes: best.max, timeNs: best.beginNs, phase };
}

/** The highest that comes after less than both by `DIP`; `buckets` lead away from the peak. */
function behindDip<B extends { min: number; max: number }>(buckets: readonly B[], peakBytes: number): B | null {
  let [best, least] = [null as B | null, peakBytes];
  for (const bucket of buckets) {
    if (bucket.max - least >= DIP * peakBytes && bucket.max > (best?.max ?? 0)) best = bucket;
    least = Math.min(least, bucket.min);
  }
  return best;
}
