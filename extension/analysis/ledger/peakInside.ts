import type { Peak, PeakQuery } from '../../protocol/requests/timelineRequests';
import { CLOCK_NS } from '../../protocol/requests/moment';
import { bucketsOf, knownPeak, type Bucket, type TraceSource } from '../../protocol/trace';

const ALL = -1;
const BUCKETS = 64;
const STEPS = 2048;

/**
 * The highest value of a series in [fromNs, toNs] and when it was. A series is kept in buckets, narrow ones for the recent
 * past: the time is as exact as the bucket, and exact where the totals or whole steps have it.
 */
export function peakInside(source: TraceSource, query: PeakQuery): Peak {
  const { series, fromNs, toNs, process = ALL, device = ALL } = query;
  const ledger = knownPeak(source.info(), query);
  const known = ledger && (peakOfSteps(source, query, ledger) ?? ledger);
  if (known && known.timeNs >= fromNs && known.timeNs <= toNs)
    return { fromNs: known.timeNs, toNs: known.timeNs, bytes: known.bytes };
  const bucketsIn = (from: number, to: number, buckets: number): Bucket[] =>
    bucketsOf(source.timeline({ series, process, device, fromNs: from, toNs: to, buckets }), to);
  let [from, end] = [Math.floor(fromNs), Math.floor(toNs) + 1];
  for (;;) {
    const best = highest(bucketsIn(from, end, BUCKETS));
    if (!best) return { fromNs, toNs, bytes: 0 };
    const bytes = best.max;
    const next = { from: Math.max(best.beginNs, from), end: Math.min(best.endNs, end) };
    const narrower = next.end - next.from < end - from;
    if (best.beginNs < next.from || !narrower) return kept(bucketsIn, best, next.from, next.end, bytes);
    [from, end] = [next.from, next.end];
    if (end - from <= 1) return { fromNs: from, toNs: from, bytes };
  }
}

/**
 * The peak that `peakInside` gave for a longer trace, in the same trace read up to a little after it. A process that runs may
 * have had its clock read a little differently: the same bytes are the same peak, wherever the time stands.
 */
export function peakAgain(source: TraceSource, query: PeakQuery, bytes: number): Peak {
  const known = knownPeak(source.info(), query);
  if (known?.bytes === bytes) return { fromNs: known.timeNs, toNs: known.timeNs, bytes };
  const again = peakInside(source, query);
  if (again.bytes === bytes) return again;
  const near = peakInside(source, { ...query, fromNs: query.fromNs - CLOCK_NS, toNs: query.toNs + CLOCK_NS });
  return near.bytes === bytes ? near : again;
}

/** The highest tensors of one ledger in a span of whole steps; null: it is no such span, or nothing was allocated in its highest step. */
function peakOfSteps(
  source: TraceSource,
  { series, fromNs, toNs }: PeakQuery,
  ledger: { process: number; device: number },
) {
  const { process, device } = ledger;
  if (series !== 'tensor' || !source.info().steps.some(one => one.process === process)) return null;
  const { endNs, tensorMaxNs, tensorMaxBytes } = source.ledgerSeries({ process, device, points: STEPS });
  const [before, last] = [endNs.indexOf(fromNs), endNs.indexOf(toNs)];
  if (last < 0 || (before < 0 && fromNs > 0)) return null;
  let best = last;
  for (let at = last; at > before; at--) if (tensorMaxBytes[at]! >= tensorMaxBytes[best]!) best = at;
  const [timeNs, bytes] = [tensorMaxNs[best]!, tensorMaxBytes[best]!];
  return timeNs >= fromNs ? { timeNs, bytes } : null;
}

/** A bucket that is kept no narrower: where it ends is found by queries for where it is still met. */
function kept(
  bucketsIn: (from: number, to: number, buckets: number) => Bucket[],
  bucket: Bucket,
  from: number,
  end: number,
  bytes: number,
): Peak {
  let [inside, outside] = [from, end];
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    const first = bucketsIn(middle, middle + 1, 1)[0];
    // What held before a moment is given with the moment as its begin; a bucket that covers it began earlier.
    if (first !== undefined && first.beginNs <= bucket.beginNs && first.beginNs < middle) inside = middle;
    else outside = middle;
  }
  return { fromNs: from, toNs: inside, bytes };
}

function highest(buckets: readonly Bucket[]): Bucket | null {
  return buckets.reduce<Bucket | null>((best, bucket) => (best && best.max >= bucket.max ? best : bucket), null);
}
