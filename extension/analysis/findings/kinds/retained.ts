import type { MemorySnapshot, TraceSource } from '../../../protocol/trace';
import { cameTo } from '../../series/repeated';
import { at, sum } from '../../series/statistics';
import type { JudgedSite } from '../../sites/states';

// What the sites of a leak retain: at the end of the last step, or when an allocation failed within the step after it.

interface Retained {
  count: number;
  bytes: number;
}

/** What a site allocated since its growth began and is still alive at the end of the last step. */
export function atEnd({ verdict, steps }: JudgedSite, source: TraceSource): Retained {
  if (verdict.grows === 'blocks') return leftOf({ verdict, steps });
  const last = steps.steps.length - 1;
  const atStep = { count: at(steps.liveCount, last), bytes: at(steps.liveBytes, last) };
  const { layer, process, site } = verdict;
  if (source.info().processes[process]?.ended !== true) return atStep;
  // A program that failed within a step ended with what that one had made, as the table shows it.
  const end = source.allocations({ layer, process, site, sort: 'bytes', descending: true, from: 0, to: 0 });
  return end.sumBytes < atStep.bytes ? atStep : { count: end.total, bytes: end.sumBytes };
}

/** The same of all sites of a leak when an allocation failed: of the step that failed, what all of them had come to. */
export function atFailure(sites: readonly JudgedSite[], { step, sites: alive }: MemorySnapshot): Retained {
  const blocks = sites.filter(({ verdict }) => verdict.grows === 'blocks');
  const common = Math.max(...blocks.map(({ verdict }) => verdict.sinceStep ?? 0));
  const repeated = blocks.map(site => {
    const own = site.verdict.sinceStep ?? 0;
    // What one iteration allocates may fall into two steps, one after the other; what began later is counted from there.
    const { perStep, count: before } = leftOf(site, { since: common - own > 1 ? common : own, to: step - 1 });
    const now = alive.find(one => one.site === site.verdict.site);
    const end = site.steps.steps.findLastIndex(last => last < step);
    // Of the smallest sites only what they left is known.
    if (now === undefined) return { perStep: 0, before, running: 0 };
    return { perStep, before, running: Math.max(0, now.liveCount - (site.steps.liveCount[end] ?? 0)) };
  });
  const { more } = cameTo(repeated);
  const kept = blocks.map((site, i): Retained => {
    const { count, bytes } = leftOf(site, { to: step - 1 });
    return { count: count + at(more, i), bytes: bytes + Math.round((bytes * at(more, i)) / Math.max(1, count)) };
  });
  const grown = new Set(sites.flatMap(({ verdict }) => (verdict.grows === 'blocks' ? [] : verdict.site)));
  const sizes = alive.filter(one => grown.has(one.site));
  return {
    count: sum([...kept.map(({ count }) => count), ...sizes.map(({ liveCount }) => liveCount)]),
    bytes: sum([...kept.map(({ bytes }) => bytes), ...sizes.map(({ liveBytes }) => liveBytes)]),
  };
}

/** Of the blocks that a site allocated since its growth began, those that are left, of steps up to `to`; and how many a step leaves. */
function leftOf({ verdict, steps }: JudgedSite, { since = verdict.sinceStep ?? 0, to = Infinity } = {}) {
  const begin = Math.max(
    0,
    steps.steps.findIndex(step => step >= since),
  );
  const end = steps.steps.findLastIndex(step => step <= to) + 1;
  const ends = [since - 1, ...steps.steps.slice(begin, end)];
  const lengths = ends.slice(1).map((last, i) => last - at(ends, i));
  const [counts, bytes] = [steps.survivorCount.slice(begin, end), steps.survivorBytes.slice(begin, end)];
  return {
    count: sumOfKept(counts, lengths),
    bytes: sumOfKept(bytes, lengths),
    perStep: sum(counts.slice(1, -2)) / Math.max(1, sum(lengths.slice(1, -2))),
  };
}

/**
 * The sum of what is left of entries of so many steps each. Of the newest two no more than of one between: what a step has for a
 * while, such as its gradients, is alive too. Nor of the first, in which is made what is made once.
 */
function sumOfKept(left: readonly number[], lengths: readonly number[]): number {
  const between = left.slice(1, -2);
  const rate = Math.max(0, ...between.map((value, i) => value / at(lengths, i + 1)));
  const most = (i: number): number => Math.max(rate * at(lengths, i), ...between) || Infinity;
  const isEdge = (i: number): boolean => i === 0 || i >= left.length - 2;
  return left.reduce((sum, value, i) => sum + (isEdge(i) ? Math.min(value, most(i)) : value), 0);
}
