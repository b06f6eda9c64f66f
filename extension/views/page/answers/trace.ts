import { readCards } from '../../../analysis/ledger/cardLedger';
import type { LedgerRequests } from '../../../protocol/requests/ledgerRequests';
import type { TableRequests } from '../../../protocol/requests/tableRequests';
import type { TraceRequests } from '../../../protocol/requests/traceRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { bornIn, openTrace, sourceOf } from './source';

export function traceAnswers(model: PageModel): Answers<TraceRequests & TableRequests & LedgerRequests> {
  return {
    freeLines: async ({ site, moment }) => (await sourceOf(model, moment)).source.freeLines(site),
    ledger: async ({ moment }) => readCards((await sourceOf(model, moment)).source),
    sites: async ({ moment, ...query }) => {
      const at = await sourceOf(model, moment);
      return at.source.sites({ ...query, ...bornIn(at) });
    },
    site: async ({ id, moment }) => (await sourceOf(model, moment)).source.site(id),
    timeline: ({ series }) => {
      const trace = openTrace(model);
      return series.map(query => trace.timeline(query));
    },
  };
}
