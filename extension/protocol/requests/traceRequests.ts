// Requests of the page about a trace.
import type { FreeLine, SiteWindow, Site, SiteQuery, Timeline, TimelineQuery } from '../trace';
import { GROUP_BYS, LAYERS, SERIES, SITE_SORTS } from '../trace';
import type { Checks } from './fieldChecks';
import { flag, index, listOf, object, oneOf, optional, rowWindow, SCOPE, text, time, within } from './fieldChecks';
import { MOMENT, type OfMoment } from './moment';

export interface TraceRequests {
  sites(query: SiteQuery & OfMoment): SiteWindow;
  /** null: no such site. */
  site(query: { id: number } & OfMoment): Site | null;
  timeline(query: { series: TimelineQuery[] }): Timeline[];
  /** The stacks that free a site's blocks, most frequent first. */
  freeLines(query: { site: number } & OfMoment): FreeLine[];
}

export const MAX_ROWS = 100_000;
const MAX_BUCKETS = 16_384;
const MAX_SERIES = 16;

export const traceChecks: Checks<TraceRequests> = {
  sites: rowWindow(
    MAX_ROWS,
    object({
      layer: oneOf(...LAYERS),
      groupBy: oneOf(...GROUP_BYS),
      sort: oneOf(...SITE_SORTS),
      descending: flag,
      filter: optional(text()),
      includeDead: optional(flag),
      from: index,
      to: index,
      ...SCOPE,
      ...MOMENT,
    }),
  ),
  site: object({ id: index, ...MOMENT }),
  freeLines: object({ site: index, ...MOMENT }),
  timeline: object({
    series: listOf(
      MAX_SERIES,
      'timeline',
      object({ series: oneOf(...SERIES), fromNs: time, toNs: time, buckets: within(1, MAX_BUCKETS), ...SCOPE }),
    ),
  }),
};
