// PyTorch's cache of pinned memory rounds each request up to a power of two (`CachingHostAllocator.h`), so that tensors may take twice what they need.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../text/format';
import type { AnswerInfo, TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import { sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { placeOf } from '../../sites/site';
import { holderEntries, type HolderEntry } from './holderAnswers';
import { isPinnedCache } from './pinnedCache';
import { makeFinding } from './wording';

const LEAST_BYTES = T.times * T.layerBytes;
const MIB = 1 << 20;

/** Tensors that one holder keeps in blocks of the cache. */
interface Rounded extends Pick<HolderEntry, 'holder' | 'count'> {
  process: number;
  site: number;
  /** Of the tensors, and of their blocks. */
  needed: number;
  taken: number;
  /** Of one of these blocks. */
  blockBytes: number;
}

/** By the search that saw most of it in each process: at its end the variables of functions are gone. What leaks has its own. */
export function roundedFindings(source: TraceSource, leaks: readonly Finding[]): Finding[] {
  const { answers, totals } = source.info();
  const large = totals.filter(({ layer, peakBytes }) => layer === 'host' && peakBytes >= LEAST_BYTES);
  return large.flatMap(({ process }) => {
    const all = answers.filter(one => one.process === process && one.complete).map(one => roundedIn(source, one));
    const [most = []] = all.sort((a, b) => wasted(b) - wasted(a));
    return most.filter(({ site }) => !leaks.some(leak => leak.sites.includes(site))).map(one => finding(one, source));
  });
}

const wasted = (all: readonly Rounded[]): number => sum(all.map(({ needed, taken }) => taken - needed));

function roundedIn(source: TraceSource, { process, index }: AnswerInfo): Rounded[] {
  const answer = source.answer({ process, index });
  const known = new Map(answer?.blocks.map(block => [block.address, block]));
  return holderEntries(answer?.text ?? '').flatMap(({ holder, count, addresses, bytes, rounded }) => {
    const blocks = addresses.map(address => known.get(address));
    const [first] = blocks;
    if (first === undefined || bytes === null || rounded === null) return [];
    const isRounded = blocks.every(
      block => block?.known === true && isPowerOfTwo(block.bytes) && isPinnedCache(block, source),
    );
    const waste = rounded - bytes;
    if (!isRounded || waste < LEAST_BYTES || waste < T.part * rounded) return [];
    return { holder, count, process, site: first.site, needed: bytes, taken: rounded, blockBytes: first.bytes };
  });
}

const isPowerOfTwo = (bytes: number): boolean => Number.isInteger(Math.log2(bytes));

function finding({ holder, count, process, site, needed, taken, blockBytes }: Rounded, source: TraceSource): Finding {
  const place = placeOf(source, site);
  const limit = Math.max(1, Math.floor(blockBytes / 2 / MIB));
  return makeFinding({
    ...{ id: `rounded ${process} ${holder.path}`, verdict: 'rounded', process, layer: 'host', holder, place, count },
    ...{ places: place === null ? [] : [place], sites: [site], bytes: taken },
    headline: t(
      '{0} takes {1} of pinned host memory for {2} of tensors',
      holder.path,
      formatBytes(taken),
      formatBytes(needed),
    ),
    detail: t('{0} times as much', (taken / needed).toFixed(2)),
    ruledOut: [
      t('Not a leak: this is the unused part of each block.'),
      t('Not GPU memory: pinned memory is host memory.'),
    ],
    suggestion: t(
      'The size of each pinned tensor is rounded up to a power of two. Pin a few buffers of such sizes, and use slices of them. Or pin each tensor in place: `torch.cuda.cudart().cudaHostRegister(x.data_ptr(), x.nbytes, 0)`. With PyTorch 2.13 or newer, `PYTORCH_ALLOC_CONF=pinned_max_cached_size_mb:{0}` also works: tensors above {0} MiB are then neither rounded nor cached.',
      String(limit),
    ),
  });
}
