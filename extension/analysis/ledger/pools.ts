import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../text/format';
import type { Pool, PoolKind } from '../../protocol/trace';
import { sum } from '../series/statistics';

/** Those that only captured graphs, or allocations under a MemPool, can use. */
export function privatePools(pools: readonly Pool[]): Pool[] {
  return pools.filter(({ kind }) => kind !== 'common' && kind !== 'unknown' && kind !== 'paused');
}

/** Of tensors that hold no memory now, see `PoolKind`. */
export function pausedIn(pools: readonly Pool[]): number {
  return sum(pools.filter(({ kind }) => kind === 'paused').map(({ liveBytes }) => liveBytes));
}

/** Bytes in them that are unused now, and that nothing else can use. */
export function unusedIn(pools: readonly Pool[]): number {
  return sum(privatePools(pools).map(({ reservedBytes, liveBytes }) => reservedBytes - liveBytes));
}

/** `3 CUDA graphs reserve 39 GiB, of which 31 GiB is unused between replays`, and what else has pools, each without a full stop. */
export function poolTexts(pools: readonly Pool[]): string[] {
  const words: Partial<Record<PoolKind, (count: string, bytes: string, unused: string) => string>> = {
    // prettier-ignore
    graph: (count, bytes, unused) => count === '1'
      ? t('1 CUDA graph reserves {0}, of which {1} is unused between replays', bytes, unused)
      : t('{0} CUDA graphs reserve {1}, of which {2} is unused between replays', count, bytes, unused),
    // prettier-ignore
    mempool: (count, bytes, unused) => count === '1'
      ? t('1 MemPool reserves {0}, of which {1} is unused', bytes, unused)
      : t('{0} MemPools reserve {1}, of which {2} is unused', count, bytes, unused),
    // prettier-ignore
    private: (_, bytes, unused) => t('Pools of CUDA graphs or MemPools reserve {0}, of which {1} is unused', bytes, unused),
  };
  const paused = pausedIn(pools);
  const texts = Object.entries(words).flatMap(([kind, text]) => {
    const own = pools.filter(pool => pool.kind === kind);
    const bytes = formatBytes(sum(own.map(({ reservedBytes }) => reservedBytes)));
    // Of one that is gone, something else that lives keeps the pool.
    const count = formatCount(sum(own.map(({ makers }) => makers)));
    return own.length === 0 ? [] : [text(count, bytes, formatBytes(unusedIn(own)))];
  });
  if (paused > 0)
    texts.push(
      // prettier-ignore
      t('{0} of these tensors are paused: they keep their addresses, but their memory was returned to the GPU', formatBytes(paused)),
    );
  return texts;
}

/** `41 MB reserved, 39 MB unused` */
export function reservedText(pools: readonly Pool[]): string {
  const [reserved, live] = [sum(pools.map(pool => pool.reservedBytes)), sum(pools.map(pool => pool.liveBytes))];
  return t('{0} reserved, {1} unused', formatBytes(reserved), formatBytes(reserved - live));
}
