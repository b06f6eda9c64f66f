import { t } from '@vscode/l10n';
import { libraryName } from '../../../text/libraryName';
import type { TraceSource } from '../../../protocol/trace';
import type { FindingHolder, SiteVerdict } from '../../../protocol/verdicts';
import type { GrowingSite } from '../../sites/cluster';
import { THRESHOLDS as T } from '../../series/thresholds';
import type { JudgedSite } from '../../sites/states';
import type { FindingContext } from './findingContext';
import { type HolderAnswer, holderKinds, NO_OWNER } from './holderAnswers';

// PyTorch's cache of pinned memory calls the driver for each block by itself, so its growth looks like a leak of the line that needed one
// more. It also grows while more copies are under way at once, as where Python runs ahead of the GPU. Only a search of the tensors shows which.

/** What has pinned memory that no tensor of Python's lies in. */
export const PINNED_CACHE: FindingHolder = {
  ...NO_OWNER,
  path: t('PyTorch’s pinned memory cache'),
  kind: 'pinned-cache',
};

/** Pinned memory that PyTorch's own allocator took: it is kept for other tensors when those in it are gone (`CachingHostAllocator.cpp`). */
export function isPinnedCache({ site }: Pick<SiteVerdict, 'site'>, source: TraceSource): boolean {
  const known = source.site(site);
  return known?.layer === 'host' && /^PyTorch /.test(libraryName(known.library));
}

/** Whether a search in the running program found no tensor in blocks of the site; null: there was none. */
function isUnused({ process, site }: SiteVerdict, answers: readonly HolderAnswer[]): boolean | null {
  const kinds = holderKinds(
    answers.filter(({ when }) => when !== 'exit'),
    process,
    [site],
  );
  return kinds.length === 0 ? null : kinds.includes('none');
}

/** Growth (bytes a step) of that pinned memory of PyTorch's cache which no tensor lies in, where it grows fastest; 0: none is known. */
export function unusedPinnedGrowth(
  growing: readonly JudgedSite[],
  { answers, source }: Pick<FindingContext, 'answers' | 'source'>,
): number {
  const unused = growing.filter(({ verdict }) => isPinnedCache(verdict, source) && isUnused(verdict, answers) === true);
  return Math.max(0, ...unused.map(({ verdict }) => verdict.bytesPerStep));
}

/** PyTorch's cache, where no tensor lies in its memory, or it was not searched and grows no faster than what is unused elsewhere in the job. */
export function unusedPinned(context: FindingContext, cluster: readonly GrowingSite[]): FindingHolder | null {
  const { answers, source, unusedPinnedGrowth: usual } = context;
  const isOurs = cluster.every(({ verdict }) => {
    if (!isPinnedCache(verdict, source) || verdict.rises >= T.times * T.many) return false;
    return isUnused(verdict, answers) ?? verdict.bytesPerStep <= usual;
  });
  return isOurs ? PINNED_CACHE : null;
}
