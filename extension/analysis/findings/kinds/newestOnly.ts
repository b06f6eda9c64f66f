import type { FindingHolder } from '../../../protocol/verdicts';
import { sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';

/** A holder with its blocks: how many of each site, and when those were allocated that the answer names. */
interface Held {
  holder: Pick<FindingHolder, 'kind' | 'limit'>;
  sites: ReadonlyMap<number, { count: number }>;
  timesNs: readonly number[];
}

/**
 * Leaves out variables that hold only the newest blocks of these sites, if no Python object holds most of the older ones. A variable that
 * is assigned in every step holds only its last value. If each value is computed from the one before, its graph may keep the older ones too.
 */
export function withoutNewestOnly<Each extends Held>(all: readonly Each[], sites: readonly number[]): Each[] {
  const countOf = (held: Each): number => sum(sites.map(site => held.sites.get(site)?.count ?? 0));
  const lost = all.filter(held => held.holder.kind === 'none' && countOf(held) > 0);
  const times = lost.flatMap(held => held.timesNs);
  const count = sum(lost.map(countOf));
  const hasNewestOnly = (held: Each): boolean => {
    if (held.timesNs.length < sum([...held.sites.values()].map(site => site.count))) return false; // it may have older ones
    const first = Math.min(...held.timesNs);
    return times.filter(time => time < first).length > (1 - T.little) * times.length;
  };
  return all.filter(held => {
    const { kind, limit = 'anew' } = held.holder;
    return kind === 'none' || limit !== 'anew' || countOf(held) >= count || !hasNewestOnly(held);
  });
}
