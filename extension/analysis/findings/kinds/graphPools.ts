// What captured graphs keep to themselves.
import type { TraceSource } from '../../../protocol/trace';
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import { poolTexts, privatePools, unusedIn } from '../../ledger/pools';
import { THRESHOLDS as T } from '../../series/thresholds';
import { sharedPoolAdvice } from './oomAdvice';
import { makeFinding } from './wording';
import { ofDevice } from './ofDevice';

/** What captured graphs keep, and what to do about it. */
export interface Graphs {
  text: string;
  advice: string;
}

/** Null: most of the free memory is not theirs. */
export function graphsOf({ ledger: { process, device } }: JudgedLedger, source: TraceSource): Graphs | null {
  const pools = privatePools(source.pools()).filter(one => one.process === process && one.device === device);
  const texts = poolTexts(pools.filter(({ kind }) => kind === 'graph'));
  const unused = unusedIn(pools);
  const most = unused >= T.most * source.fragmentation({ process, device }).freeBytes;
  if (texts.length === 0 || !most || unused < T.layerBytes) return null;
  return { text: texts.join('; '), advice: sharedPoolAdvice(pools) };
}

export function graphsFinding(judged: JudgedLedger, { text, advice }: Graphs): Finding {
  return makeFinding({ ...ofDevice(judged, 'graphs'), verdict: 'pending', headline: text, suggestion: advice });
}
