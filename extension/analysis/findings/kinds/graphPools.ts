// What captured graphs keep to themselves.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../text/format';
import type { Pool, TraceSource } from '../../../protocol/trace';
import type { Finding, FindingPlace } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import { poolTexts, privatePools, unusedIn } from '../../ledger/pools';
import { THRESHOLDS as T } from '../../series/thresholds';
import { placeOf } from '../../sites/site';
import { placeText } from '../../words';
import { sharedPoolAdvice } from './oomAdvice';
import { makeFinding } from './wording';
import { ofDevice } from './ofDevice';

/** What captured graphs keep, which of them keeps most and where that was allocated (null: not known), and what to do about it. */
export interface Graphs {
  text: string;
  most: string | null;
  place: FindingPlace | null;
  advice: string;
}

/** Null: most of the free memory is not theirs. */
export function graphsOf({ ledger: { process, device } }: JudgedLedger, source: TraceSource): Graphs | null {
  const pools = privatePools(source.pools()).filter(one => one.process === process && one.device === device);
  const texts = poolTexts(pools.filter(({ kind }) => kind === 'graph'));
  const unused = unusedIn(pools);
  const isMost = unused >= T.most * source.fragmentation({ process, device }).freeBytes;
  if (texts.length === 0 || !isMost || unused < T.layerBytes) return null;
  const [biggest, ...others] = pools
    .filter(({ kind }) => kind === 'graph')
    .sort((a, b) => b.reservedBytes - a.reservedBytes);
  const place = biggest === undefined ? null : placeOf(source, biggest.site);
  const most = biggest === undefined || place === null ? null : biggestText(biggest, others, placeText(place));
  return { text: texts.join('; '), most, place, advice: sharedPoolAdvice(pools) };
}

function biggestText({ label, reservedBytes }: Pool, others: readonly Pool[], place: string): string {
  return others.length === 0
    ? t('all in {0}, allocated at {1}', label, place)
    : t('the largest is {0}, with {1} allocated at {2}', label, formatBytes(reservedBytes), place);
}

export function graphsFinding(judged: JudgedLedger, { text, most, place, advice }: Graphs): Finding {
  return makeFinding({
    ...ofDevice(judged, 'graphs'),
    ...(place === null ? {} : { place, places: [place], sites: [place.site] }),
    verdict: 'pending',
    headline: text,
    detail: most,
    suggestion: advice,
  });
}
