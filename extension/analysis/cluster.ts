import type { SiteVerdict } from '../protocol/verdicts';
import type { SiteSteps } from './siteSeries';
import { at } from './statistics';
import { THRESHOLDS as T } from './thresholds';

/** A site that grows, and what is needed to tell what it grows with. */
export interface GrowingSite {
  verdict: SiteVerdict;
  steps: SiteSteps;
  /** `file:line` of the line that is shown for it; empty without Python. */
  line: string;
  /** Thread whose work it is: null for PyTorch's own threads, which work for others. */
  worker: number | null;
  /** What its survivors hang on, as the agent found: the same text for the same holder; null: not known. */
  holder: string | null;
}

/** Puts together what is kept by one cause: survivors of the same steps and threads, held by the same thing. */
export function clusterByCause(sites: readonly GrowingSite[]): GrowingSite[][] {
  const kinds = new Map<string, GrowingSite[]>();
  for (const site of sites) {
    const { process, layer, grows } = site.verdict;
    // A block that grows is a cause of its own; the same line seen through several stacks is one.
    const key = `${process} ${layer} ${grows === 'size' ? `size ${site.line || site.verdict.site}` : 'blocks'}`;
    push(kinds, key, site);
  }
  return [...kinds.values()].flatMap(kind => byRhythm(kind)).flatMap(cluster => byHolder(cluster));
}

/** Sites with the very same survivors are put together first: a graph of hundreds of sites is then one comparison. */
function byRhythm(sites: readonly GrowingSite[]): GrowingSite[][] {
  const same = new Map<string, GrowingSite[]>();
  for (const site of sites) push(same, `${site.worker} ${rhythmOf(site).join(' ')}`, site);
  const clusters: GrowingSite[][] = [];
  for (const group of [...same.values()].sort((a, b) => bytesOf(b) - bytesOf(a))) {
    const found = clusters.find(cluster => alike(representative(cluster), representative(group)));
    if (found === undefined) clusters.push([...group]);
    else found.push(...group);
  }
  return clusters;
}

function representative(cluster: readonly GrowingSite[]): GrowingSite {
  const [first, ...rest] = cluster;
  if (first === undefined) throw new RangeError('A cluster has at least one site.');
  return rest.reduce((best, site) => (site.worker !== null && best.worker === null ? site : best), first);
}

function bytesOf(sites: readonly GrowingSite[]): number {
  return sites.reduce((sum, site) => sum + site.verdict.bytesPerStep, 0);
}

/** Entries whose blocks are still alive, from the step on at which the site began to grow. */
function rhythmOf({ verdict, steps }: GrowingSite): number[] {
  const born = steps.survivorCount.flatMap((count, i) => {
    return count > 0 && at(steps.steps, i) >= (verdict.sinceStep ?? 0) ? [i] : [];
  });
  // What the last step made may be alive for other reasons.
  return born.filter(i => i < steps.steps.length - 1);
}

function alike(a: GrowingSite, b: GrowingSite): boolean {
  if (a.worker !== null && b.worker !== null && a.worker !== b.worker) return false;
  if (a.verdict.grows === 'size' || b.verdict.grows === 'size') return a.line === b.line;
  if (Math.abs((a.verdict.sinceStep ?? 0) - (b.verdict.sinceStep ?? 0)) > T.sameCauseSteps * rhythmGap(a, b))
    return false;
  const [mine, others] = [rhythmOf(a), new Set(rhythmOf(b))];
  const common = mine.filter(i => others.has(i)).length;
  const all = mine.length + others.size - common;
  return all > 0 && common >= T.sameCauseShare * all;
}

function rhythmGap(a: GrowingSite, b: GrowingSite): number {
  return Math.max(1, a.verdict.period ?? 1, b.verdict.period ?? 1);
}

/** Divides what the agent found to hang on different things; what it did not find goes with the biggest. */
function byHolder(cluster: GrowingSite[]): GrowingSite[][] {
  const held = new Map<string, GrowingSite[]>();
  for (const site of cluster) if (site.holder !== null) push(held, site.holder, site);
  if (held.size <= 1) return [cluster];
  const parts = [...held.values()].sort((a, b) => bytesOf(b) - bytesOf(a));
  parts[0]?.push(...cluster.filter(site => site.holder === null));
  return parts;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
