// PyTorch's cache grows beyond the tensors in it: fragmentation, or memory that it cannot hand out.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { Finding, FindingPlace } from '../../../protocol/verdicts';
import { groupBy } from '../../../base/maps';
import type { JudgedLedger } from '../../ledger/ledger';
import type { Growth } from '../../series/growth';
import { at, sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { riseSince } from '../../sites/context';
import { placeOf } from '../../sites/site';
import { placeText, rateText } from '../../words';
import { fragmentationAdvice } from './oomAdvice';
import { makeFinding } from './wording';
import { layerGrowthOf, type LayerContext, ofDevice } from './ofDevice';
import type { Graphs } from './graphPools';

export function cacheFinding(
  judged: JudgedLedger,
  growth: Growth,
  { graphs, leaks, sites, source }: LayerContext & { graphs: Graphs | null },
): Finding {
  const { process, device } = judged.ledger;
  const room = source.fragmentation({ process, device });
  const leaking = leaks.filter(one => one.layer === 'tensor' && one.process === process && one.device === device);
  const longer = leaking.filter(one => one.class === 'size').map(({ bytes, count }) => bytes / Math.max(1, count));
  const grows = growsAt(judged, growth.since, { sites, source });
  const place = grows?.place ?? null;
  // Where a gap is as long as what the cache takes anew, it is not the pieces that are too small.
  const taken = Math.min(growth.perStep * growth.gap, grows?.largestBytes ?? Infinity);
  const needed = Math.max(taken, T.layerBytes, ...longer);
  const pending = room.largestFreeBytes >= needed;
  const beyond = { ...growth, perStep: growth.perStep - sum(leaking.map(({ bytesPerStep }) => bytesPerStep)) };
  const [all, unused, gap] = [room.segmentBytes, room.freeBytes, room.largestFreeBytes].map(bytes =>
    formatBytes(bytes),
  );
  const partly = formatCount(room.partlyUsedSegments);
  const beyondRate = rateText(beyond.perStep, place === null ? beyond.since : growth.since);
  const rate = leaking.length > 0 ? t('by {0}', beyondRate) : beyondRate;
  return makeFinding({
    ...ofDevice(judged, 'cache'),
    ...(place === null ? {} : { place, places: [place], sites: [place.site] }),
    verdict: pending ? 'pending' : 'fragmentation',
    headline: pending
      ? t('PyTorch’s reserved memory grows although its cache has free memory')
      : leaking.length > 0
        ? t('PyTorch’s reserved memory grows faster than its allocated memory')
        : t('PyTorch’s reserved memory grows, but its allocated memory does not'),
    ...layerGrowthOf(beyond),
    detail: place === null ? rate : t('{0}, mostly for {1}', rate, placeText(place)),
    bytes: room.freeBytes,
    count: room.partlyUsedSegments,
    evidence: [
      t('{0} segments hold {1}, of which {2} is unused.', formatCount(room.segments), all ?? '', unused ?? ''),
      t('{0} segments have both a live block and a gap; the largest gap is {1}.', partly, gap ?? ''),
    ],
    ruledOut: [
      ...(leaking.length > 0 ? [] : [t('Not a tensor leak: peak allocated memory does not grow.')]),
      ...noPending(judged.recentPending),
    ],
    suggestion: cacheAdvice(pending, graphs),
  });
}

/** The line for whose allocations the cache took most from the driver since a step, and the longest segment of those. */
function growsAt(
  { ledger }: JudgedLedger,
  since: number,
  { sites, source }: Pick<LayerContext, 'sites' | 'source'>,
): { place: FindingPlace; largestBytes: number } | null {
  const own = sites.filter(
    ({ steps }) => steps.segments && steps.process === ledger.process && steps.device === ledger.device,
  );
  const lines = groupBy(own, ({ steps }) => placeText(placeOf(source, steps.site)));
  const rises = [...lines.values()].map(same => ({
    site: same[0].steps.site,
    bytes: sum(same.map(({ steps }) => riseSince(since, steps))),
    largestBytes: Math.max(
      ...same.flatMap(({ steps }) => steps.stepLargestBytes.filter((_, entry) => at(steps.steps, entry) >= since)),
    ),
  }));
  const [most] = rises.sort((a, b) => b.bytes - a.bytes);
  const place = most === undefined || most.bytes <= 0 ? null : placeOf(source, most.site);
  if (most === undefined || place === null) return null;
  return { place, largestBytes: most.largestBytes > 0 ? most.largestBytes : Infinity };
}

/** `graphs`: what captured graphs keep, if most of the free memory is theirs. */
function cacheAdvice(pending: boolean, graphs: Graphs | null): string {
  if (graphs !== null) return `${graphs.text}. ${graphs.advice}`;
  if (!pending) return fragmentationAdvice();
  return t(
    'The free memory is waiting for another stream or belongs to another pool (`record_stream`, CUDA graphs). Wait for the side stream before you free the tensors, or capture fewer graphs. A failed capture keeps its pool: do not retry it, and make no call in it that waits for the GPU, such as `.item()`.',
  );
}

function noPending(recent: number | null): string[] {
  if (recent === null) return [];
  const most = formatBytes(recent);
  return [t('Not memory waiting for a stream: PyTorch reported at most {0} of it in the last steps.', most)];
}
