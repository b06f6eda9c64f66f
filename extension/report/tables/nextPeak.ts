import { numberOrNull } from '../../analysis/series/statistics';
import { toothBefore, type Tooth } from './stepsBuildUp';
import {
  bucketsOf,
  PASSES,
  type Bucket,
  type LedgerSeries,
  type Pass,
  type Totals,
  type TraceSource,
} from '../../protocol/trace';

const POINTS = 2_048;
const BUCKETS = 4_096;
/** Between two peaks there is at least so much less, as a part of the higher one. */
const DIP = 0.02;

interface StepPeak {
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
  /** Of another step; absent: of the same. */
  step?: number;
  /** As exact as the trace keeps it. */
  timeNs: number;
  /** null: more than one thing was done at about that time. */
  phase: Pass | null;
}
/** Whose peak it is, in which step, and the next highest one. */
export interface PeakPlace {
  process: number;
  device: number;
  /** From 1; null: steps are not known, several are kept as one, or it is in none that has ended. */
  step: number | null;
  /** The last step, where the peak comes after its end: behind it there need not be another. */
  afterStep?: number;
  /** When that step began; null with it. */
  stepFromNs: number | null;
  next: NextPeak | null;
  /** The steps before it in which memory built up; null: it did not. */
  tooth: Tooth | null;
}
/** Reads the trace as it was at a time (ns). */
type ReadAt = <T>(untilNs: number, read: (then: TraceSource) => T) => Promise<T>;

/** Where the peak at `ns` belongs, on the device that had the most of all that `included` takes. Null: there were no tensors. */
export async function peakPlace(
  source: TraceSource,
  ns: number,
  readAt: ReadAt,
  included: (total: Totals) => boolean = () => true,
): Promise<PeakPlace | null> {
  const { totals, steps } = source.info();
  const tensors = totals.filter(total => total.layer === 'tensor' && included(total));
  const [most] = tensors.sort((a, b) => b.peakBytes - a.peakBytes);
  if (most === undefined) return null;
  const { process, device } = most;
  const own = steps.find(one => one.process === process && one.source !== 'time');
  if (own === undefined) return { process, device, step: null, stepFromNs: null, next: null, tooth: null };
  const where = { process, device, tooth: toothBefore(source, most, ns) };
  const series = source.ledgerSeries({ process, device, points: POINTS });
  const { first, last, endNs, tensorMaxNs, tensorMaxBytes } = series;
  const at = endNs.findIndex(end => end >= ns);
  if (at < 0) {
    const after = own.count > 0 ? { afterStep: own.count } : {};
    return { ...where, step: null, ...after, stepFromNs: endNs.at(-1) ?? 0, next: null };
  }
  const step = first[at] === last[at] ? first[at]! : null;
  const stepFromNs = step === null ? null : (endNs[at - 1] ?? 0);
  const timeNs = numberOrNull(tensorMaxNs[at]);
  if (timeNs === null || step === null) return { ...where, step, stepFromNs, next: null };
  const toNs = endNs[at]!;
  const peak = { process, device, timeNs, bytes: tensorMaxBytes[at]!, fromNs: endNs[at - 1] ?? 0, toNs };
  const next = await readAt(toNs, then => nextInStep(then, peak));
  const other = nextOfOthers(source, peak, series);
  return { ...where, step, stepFromNs, next: other && other.bytes > (next?.bytes ?? 0) ? other : next };
}

/** The next highest peak of the same step: what lowers only the first one gains no more than the difference. `source`: read up to the end
 * of the step, where the recent past is kept finely. Null: there is none. */
function nextInStep(source: TraceSource, peak: StepPeak): NextPeak | null {
  const { process, device, fromNs, toNs } = peak;
  const span = { process, device, fromNs, toNs, buckets: BUCKETS };
  const buckets = bucketsOf(source.timeline({ series: 'tensor', ...span }), toNs);
  const top = buckets.findLastIndex(({ beginNs, max }) => beginNs <= peak.timeNs && max === peak.bytes);
  if (top < 0) return null;
  // The most of a bucket that begins earlier may be that of the step before.
  const first = buckets.findIndex(({ beginNs }) => beginNs >= fromNs);
  const sides = [buckets.slice(top + 1), first < 0 ? [] : buckets.slice(first, Math.max(first, top)).reverse()];
  const [best] = sides.flatMap(side => behindDip(side, peak.bytes) ?? []).sort((a, b) => b.max - a.max);
  return best === undefined
    ? null
    : { bytes: best.max, timeNs: best.beginNs, phase: phaseIn(source, process, best.beginNs, best.endNs) };
}

/** A step with its peak. */
type OtherPeak = Pick<StepPeak, 'bytes' | 'timeNs'> & { step: number };

/** The highest first; of equal ones the earliest. */
const byHeight = (a: OtherPeak, b: OtherPeak): number => b.bytes - a.bytes || a.timeNs - b.timeNs;

/** The highest of the other steps. Those that are about as high have the same peak: what lowers it in one step does so in all. */
function nextOfOthers(source: TraceSource, peak: StepPeak, series: LedgerSeries): NextPeak | null {
  const { process, device } = peak;
  const others = [...series.tensorMaxBytes].flatMap((bytes, at) => {
    const timeNs = numberOrNull(series.tensorMaxNs[at]);
    return timeNs === null || bytes > (1 - DIP) * peak.bytes ? [] : [{ bytes, timeNs, step: series.last[at]! }];
  });
  const leastUpTo = ({ timeNs }: OtherPeak): number => {
    const [fromNs, toNs] = [Math.min(timeNs, peak.timeNs), Math.max(timeNs, peak.timeNs)];
    const between = source.timeline({ series: 'tensor', process, device, fromNs, toNs, buckets: 1 });
    return Math.min(...bucketsOf(between, toNs).map(({ min }) => min));
  };
  const before = others.filter(one => one.timeNs < peak.timeNs).reverse();
  const after = others.filter(one => one.timeNs >= peak.timeNs);
  const [next] = [before, after].flatMap(side => highestBehind(side, DIP * peak.bytes, leastUpTo) ?? []).sort(byHeight);
  return next ? { ...next, phase: phaseIn(source, process, next.timeNs, next.timeNs + 1) } : null;
}

/**
 * The highest of those, nearest first, up to which there is less than it has by `dip`. That least falls with the distance, so that two of
 * them bound it for all between: a group is read closer only while that leaves a doubt.
 */
function highestBehind(
  side: readonly OtherPeak[],
  dip: number,
  leastUpTo: (other: OtherPeak) => number,
): OtherPeak | null {
  let best: OtherPeak | null = null;
  const search = (from: number, to: number, near: number, far: number): void => {
    const open = side
      .slice(from, to)
      .filter(one => one.bytes - dip >= far && (best === null || byHeight(one, best) < 0));
    if (open.length === 0) return;
    const sure = to - from === 1 || near === far ? open : open.filter(({ bytes }) => bytes - dip >= near);
    best = [...sure, ...(best === null ? [] : [best])].sort(byHeight)[0] ?? null;
    if (sure.length === open.length) return;
    const middle = (from + to) >> 1;
    const least = leastUpTo(side[middle - 1]!);
    search(from, middle, near, least);
    search(middle, to, least, far);
  };
  const last = side.at(-1);
  if (last !== undefined) search(0, side.length, Infinity, leastUpTo(last));
  return best;
}

/** null: more than one thing was done then. */
function phaseIn(source: TraceSource, process: number, fromNs: number, toNs: number): Pass | null {
  const passes = source.passes({ process, fromNs, toNs });
  return passes.length === 2 ? (PASSES[passes[1]!] ?? null) : null;
}

/** The highest that comes after less than both by `DIP`; `buckets` lead away from the peak. */
function behindDip(buckets: readonly Bucket[], peakBytes: number): Bucket | null {
  let [best, least] = [null as Bucket | null, peakBytes];
  for (const bucket of buckets) {
    if (bucket.max - least >= DIP * peakBytes && bucket.max > (best?.max ?? 0)) best = bucket;
    least = Math.min(least, bucket.min);
  }
  return best;
}
