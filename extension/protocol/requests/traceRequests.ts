// What the page may ask of a trace.
import { flag, index, indexOrAll, listOf, object, oneOf, Refused, rowWindow, text, time, type Checks } from './checks';
import { momentField, type OfMoment } from './moment';
import { LAYERS, SERIES, SITE_SORTS } from '../trace';
import type { GroupBy, Site, SiteQuery, SiteWindow, Timeline, TimelineQuery } from '../trace';

export interface TraceRequests {
  sites(query: SiteQuery & OfMoment): SiteWindow;
  /** null: no such site. */
  site(query: { id: number } & OfMoment): Site | null;
  timeline(query: { series: TimelineQuery[] }): Timeline[];
}

const GROUPS: readonly GroupBy[] = ['site', 'line', 'function', 'module', 'thread', 'process', 'device', 'category'];
export const MAX_ROWS = 100_000;
const MAX_BUCKETS = 16_384;
const MAX_SERIES = 16;

export const traceChecks: Checks<TraceRequests> = {
  sites: siteQuery,
  site: params => {
    const from = object(params, 'site');
    return { id: index(from, 'id'), ...momentField(from) };
  },
  timeline: params => ({ series: listOf(object(params, 'timeline'), 'series', MAX_SERIES, timeline) }),
};

function siteQuery(params: unknown): SiteQuery & OfMoment {
  const from = object(params, 'sites');
  const query: SiteQuery & OfMoment = {
    layer: oneOf(from, 'layer', LAYERS),
    groupBy: oneOf(from, 'groupBy', GROUPS),
    sort: oneOf(from, 'sort', SITE_SORTS),
    descending: flag(from, 'descending'),
    ...rowWindow(from, MAX_ROWS),
    ...momentField(from),
  };
  if (from.filter !== undefined) query.filter = text(from, 'filter');
  if (from.process !== undefined) query.process = indexOrAll(from, 'process');
  if (from.device !== undefined) query.device = indexOrAll(from, 'device');
  if (from.includeDead !== undefined) query.includeDead = flag(from, 'includeDead');
  return query;
}

function timeline(entry: unknown): TimelineQuery {
  const from = object(entry, 'timeline');
  const query: TimelineQuery = {
    series: oneOf(from, 'series', SERIES),
    fromNs: time(from, 'fromNs'),
    toNs: time(from, 'toNs'),
    buckets: index(from, 'buckets'),
  };
  if (query.buckets < 1 || query.buckets > MAX_BUCKETS) throw new Refused(`buckets is 1 to ${MAX_BUCKETS}`);
  if (from.process !== undefined) query.process = indexOrAll(from, 'process');
  if (from.device !== undefined) query.device = indexOrAll(from, 'device');
  return query;
}
