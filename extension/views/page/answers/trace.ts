import type { TraceRequests } from '../../../protocol/requests/traceRequests';
import type { PageModel } from '../model';
import type { Answers } from './answers';
import { bornIn, openTrace, sourceOf } from './source';

export function traceAnswers(model: PageModel): Answers<TraceRequests> {
  return {
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
