import type { Peak, PeakQuery } from '../../protocol/requests/timelineRequests';
import { bucketsOf, knownPeak, type Bucket, type TraceSource } from '../../protocol/trace';

const ALL = -1;
const BUCKETS = 64;

/**
 * The highest value of a series in [fromNs, toNs] and when it was. A series is kept in buckets, narrow ones for the recent
 * past: the time is as exact as the bucket, and exact where the totals have it.
 */
export function peakInside(source: TraceSource, query: PeakQuery): Peak {
  const { series, fromNs, toNs, process = ALL, device = ALL } = query;
  const known = knownPeak(source.info(), query);
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
  return peakInside(source, query);
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
