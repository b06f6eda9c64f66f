import { t } from '@vscode/l10n';
import { formatCount } from '../../text/format';
import type { RankSummary } from '../../protocol/job';
import { groupBy } from '../../base/maps';

/** Ranges of ranks that are written out. */
const SHOWN = 8;

/** The numbers of some ranks, each once; they rise. */
export function numbersOf(ranks: readonly RankSummary[]): number[] {
  return [...new Set(ranks.map(({ rank }) => rank ?? 0))].sort((a, b) => a - b);
}

/** Some ranks by what they have in common: one alone, a stage, hosts, else their numbers. `of` rises. */
export function groupText(of: readonly number[], all: readonly RankSummary[], by: 'stage' | 'host' = 'stage'): string {
  if (of.length === 1 && all.length > 1) return t('rank {0} alone', of[0] ?? 0);
  if (of.length === all.length) {
    if (all.length <= 2) return all.length === 1 ? t('the only rank') : t('both ranks');
    return t('all {0} ranks', formatCount(all.length));
  }
  const names = by === 'stage' ? (stageNames(of, all) ?? hostNames(of, all)) : hostNames(of, all);
  return names ?? ranksText(of);
}

/** `rank 5`, `ranks 1, 5–8`; numbers rise. */
export function ranksText(of: readonly number[]): string {
  return of.length === 1 ? t('rank {0}', of[0] ?? 0) : t('ranks {0}', rankList(of));
}

function stageNames(of: readonly number[], all: readonly RankSummary[]): string | null {
  const stages = wholeGroups(of, all, ({ mesh }) => (mesh.pp === undefined ? null : String(mesh.pp[0])));
  if (stages.length > SHOWN) return null;
  if (stages.length > 1) return t('all ranks of the stages {0}', stages.join(', '));
  return stages[0] === undefined ? null : t('all ranks of stage {0}', stages[0]);
}

function hostNames(of: readonly number[], all: readonly RankSummary[]): string | null {
  const hosts = wholeGroups(of, all, ({ host }) => host || null);
  if (hosts.length > SHOWN) return null;
  if (hosts.length > 1) return t('all ranks of the hosts {0}', hosts.join(', '));
  return hosts[0] === undefined ? null : t('all ranks of host {0}', hosts[0]);
}

/** The groups that the ranks make up, each whole; none where they do not. */
function wholeGroups(
  of: readonly number[],
  all: readonly RankSummary[],
  groupOf: (rank: RankSummary) => string | null,
): string[] {
  const chosen = new Set(of);
  const whole: string[] = [];
  for (const [group, ranks] of groupBy(all, groupOf)) {
    const inside = ranks.filter(({ rank }) => chosen.has(rank ?? 0)).length;
    if (inside === 0) continue;
    if (group === null || inside < ranks.length) return [];
    whole.push(group);
  }
  return whole;
}

/** `1, 5–8, 12`; numbers rise. */
export function rankList(ranks: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last !== undefined && rank === last[1] + 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const texts = runs.map(([from, to]) =>
    from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from}–${to}`,
  );
  return texts.length > SHOWN ? t('{0} and more', texts.slice(0, SHOWN).join(', ')) : texts.join(', ');
}
