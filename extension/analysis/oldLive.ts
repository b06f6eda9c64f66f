import { at } from './statistics';

/** What came and went at one site, by entry; blocks or bytes. */
export interface Flows {
  live: readonly number[];
  allocated: readonly number[];
  freed: readonly number[];
  /** Of these, allocated before the step before. */
  oldFreed: readonly number[];
}

/**
 * What lives at each step's end of what was allocated before the step before, as far as flows tell: young blocks that go
 * are taken to be of the same step first. Exact where a site's blocks go in one way; else too high by what varies.
 */
export function estimateOldLive({ live, allocated, freed, oldFreed }: Flows): number[] {
  let born = 0;
  return live.map((value, i) => {
    const young = at(freed, i) - at(oldFreed, i);
    const same = Math.min(young, at(allocated, i));
    const before = Math.max(0, born - (young - same));
    born = at(allocated, i) - same;
    return Math.max(0, value - born - before);
  });
}
