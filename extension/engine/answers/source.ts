import { untilOf, type Moment } from '../../protocol/requests/moment';
import type { TraceSource } from '../../protocol/trace';
import type { PageModel } from './answers';

/** What answers for a moment; `born`: only blocks that were allocated in that span (ns) count. */
export interface MomentSource {
  source: TraceSource;
  born?: { fromNs: number; toNs: number };
}

/** The trace as it was at a moment, read to its end. Rejects with a sentence. */
export async function sourceOf({ shown }: Pick<PageModel, 'shown'>, moment: Moment | undefined): Promise<MomentSource> {
  const { native, moments } = shown.session;
  const untilNs = untilOf(moment);
  const source = untilNs === null ? native : await moments.at(untilNs);
  if (moment?.kind !== 'born') return { source };
  return { source, born: { fromNs: moment.fromNs, toNs: moment.toNs } };
}

/** The span of births as a query of sites or allocations names it. */
export function bornIn({ born }: MomentSource): { bornFromNs?: number; bornToNs?: number } {
  return born ? { bornFromNs: born.fromNs, bornToNs: born.toNs } : {};
}
