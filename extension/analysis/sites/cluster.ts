import { groupBy } from '../../base/maps';
import { at, sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import type { JudgedSite } from './states';

/** A site that grows, and what is needed to find what it grows with. */
export interface GrowingSite extends JudgedSite {
  /** `file:line` of the line that is shown for it; empty without Python. */
  line: string;
  /** What its survivors hang on, as the agent found: the same text for the same holder; null: not known. */
  holder: string | null;
  /** The function that keeps them, and the object that has what they hang on, as a text; null: no object has it, or not known. */
  owner: string | null;
}

/** Puts together what is kept by one cause: survivors of the same steps, held by the same thing. */
export function clusterByCause(sites: readonly GrowingSite[]): GrowingSite[][] {
  const kinds = groupBy(sites, ({ line, verdict: { process, layer, grows, site } }) => {
    // A block that grows is a cause of its own; the same line seen through several stacks is one.
    return `${process} ${layer} ${grows === 'size' ? `size ${line || site}` : grows}`;
  });
  return ofOneLine(
    ofOneHolder([...kinds.values()].flatMap(kind => byRhythm(kind).flatMap(cluster => byHolder(cluster)))),
  );
}

/** What was found to hang on nothing is of the cause that the same line has, where the line has one that was found. */
function ofOneLine(clusters: readonly GrowingSite[][]): GrowingSite[][] {
  const isHeld = (cluster: readonly GrowingSite[]): boolean => cluster.some(site => site.holder !== null);
  const held = clusters.filter(isHeld);
  const causeOf = (site: GrowingSite): GrowingSite[] | undefined =>
    held.find(cluster => cluster.some(each => isOfLine(each, site)));
  return [
    ...held,
    ...clusters.filter(cluster => {
      if (isHeld(cluster)) return false;
      const causes = cluster.map(causeOf);
      const [cause] = causes;
      if (cause === undefined || causes.some(each => each !== cause)) return true;
      cause.push(...cluster);
      return false;
    }),
  ];
}

function isOfLine(a: GrowingSite, b: GrowingSite): boolean {
  const same = a.verdict.process === b.verdict.process && a.verdict.layer === b.verdict.layer;
  return same && a.line === b.line && a.verdict.grows === b.verdict.grows;
}

/**
 * What hangs on one thing is one cause, whatever its rhythm, whether it is old or anew, and whether it lies on the device or is the
 * pinned copy of that. Device memory comes first.
 */
function ofOneHolder(clusters: readonly GrowingSite[][]): GrowingSite[][] {
  const isHost = (cluster: GrowingSite[]): number => Number(cluster[0]?.verdict.layer === 'host');
  const found = groupBy(
    clusters.toSorted((a, b) => isHost(a) - isHost(b)),
    cluster => {
      const { process, layer, site } = cluster[0]?.verdict ?? {};
      const holder = cluster.find(each => each.holder !== null)?.holder ?? null;
      return `${process} ${holder ?? `${layer} site ${site}`}`;
    },
  );
  return [...found.values()].map(same => same.flat());
}

/** Sites put together, with the rhythm of the one that stands for them. */
interface Rhythm {
  sites: GrowingSite[];
  first: GrowingSite;
  rhythm: readonly number[];
}

/** Sites with the very same survivors are put together first: a graph of hundreds of sites is then one comparison. */
function byRhythm(sites: readonly GrowingSite[]): GrowingSite[][] {
  const same = groupBy(sites, site => rhythmOf(site).join(' '));
  const groups = [...same.values()].map((own): Rhythm => ({ sites: own, first: own[0], rhythm: rhythmOf(own[0]) }));
  const clusters: Rhythm[] = [];
  for (const group of groups.sort((a, b) => growthOf(b.sites) - growthOf(a.sites))) {
    const found = clusters.find(cluster => alike(cluster, group));
    if (found === undefined) clusters.push(group);
    else found.sites.push(...group.sites);
  }
  return clusters.map(group => group.sites);
}

/** Bytes a step. */
export function growthOf(sites: readonly GrowingSite[]): number {
  return sum(sites.map(({ verdict }) => verdict.bytesPerStep));
}

/** Entries whose blocks are still alive, from the step on at which the site began to grow. */
function rhythmOf({ verdict, steps }: GrowingSite): number[] {
  const rhythm: number[] = [];
  // What the last step made may be alive for other reasons.
  for (let i = 0; i < steps.steps.length - 1; i++) {
    if (at(steps.survivorCount, i) > 0 && at(steps.steps, i) >= (verdict.sinceStep ?? 0)) rhythm.push(i);
  }
  return rhythm;
}

function alike(a: Rhythm, b: Rhythm): boolean {
  const [one, other] = [a.first, b.first];
  if (one.verdict.grows === 'size' || other.verdict.grows === 'size') return one.line === other.line;
  const gap = Math.max(1, one.verdict.period ?? 1, other.verdict.period ?? 1);
  const apart = Math.abs((one.verdict.sinceStep ?? 0) - (other.verdict.sinceStep ?? 0));
  if (apart > T.few * gap) return false;
  const common = countCommon(a.rhythm, b.rhythm);
  const all = a.rhythm.length + b.rhythm.length - common;
  return all > 0 && common >= (1 - T.part) * all;
}

/** Both rise. */
function countCommon(a: readonly number[], b: readonly number[]): number {
  let [i, j, common] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const difference = at(a, i) - at(b, j);
    if (difference === 0) common++;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return common;
}

/**
 * Divides what the agent found to hang on different things, unless one function puts it into several lists of one object; what it
 * did not find goes with the biggest.
 */
function byHolder(cluster: GrowingSite[]): GrowingSite[][] {
  const held = groupBy(cluster, site => (site.holder === null ? null : (site.owner ?? site.holder)));
  const unknown = held.get(null) ?? [];
  held.delete(null);
  if (held.size <= 1) return [cluster];
  const parts = [...held.values()].sort((a, b) => growthOf(b) - growthOf(a));
  parts[0]?.push(...unknown);
  return parts;
}
