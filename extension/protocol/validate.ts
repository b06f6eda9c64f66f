// What comes from the page is checked before the host acts on it.
import type { Method, ToHost } from './messages';
import type { GroupBy, Layer, Series, SiteQuery, SiteSort, TimelineQuery } from './trace';

/** The message, or why it is refused; `id` where an answer can be sent. */
export type Checked = { ok: true; message: ToHost } | { ok: false; id: number | null; error: string };

const LAYERS: readonly Layer[] = ['tensor', 'driver', 'host'];
const GROUPS: readonly GroupBy[] = ['site', 'line', 'function', 'thread', 'process', 'device'];
const SORTS: readonly SiteSort[] = [
  'liveBytes',
  'liveCount',
  'peakBytes',
  'allocations',
  'frees',
  'growth',
  'allocatedBytes',
  'label',
  'thread',
  'device',
];
const SERIES: readonly Series[] = ['tensor', 'reserved', 'driver', 'host'];
const MAX_ROWS = 100_000;
const MAX_BUCKETS = 16_384;
const MAX_SERIES = 16;
const MAX_TEXT = 4_096;

type Fields = Record<string, unknown>;
class Refused extends Error {}

/** Checks one message of the page. Never throws. */
export function checkMessage(value: unknown): Checked {
  const fields = isFields(value) ? value : null;
  const id = fields !== null && isIndex(fields.id) ? fields.id : null;
  try {
    if (fields === null) throw new Refused('a message is an object');
    if (fields.type === 'ready') return { ok: true, message: { type: 'ready' } };
    if (fields.type !== 'request') throw new Refused('the type of a message is "ready" or "request"');
    if (id === null) throw new Refused('a request has an id, a whole number');
    return { ok: true, message: request(id, fields.method, fields.params) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, id, error: error.message };
    throw error;
  }
}

function request(id: number, method: unknown, params: unknown): ToHost {
  switch (method as Method) {
    case 'sites':
      return { type: 'request', id, method: 'sites', params: siteQuery(object(params, 'sites')) };
    case 'site':
      return { type: 'request', id, method: 'site', params: { id: index(object(params, 'site'), 'id') } };
    case 'timeline':
      return { type: 'request', id, method: 'timeline', params: { series: timelines(object(params, 'timeline')) } };
    case 'openLine': {
      const at = object(params, 'openLine');
      return { type: 'request', id, method: 'openLine', params: { file: text(at, 'file'), line: index(at, 'line') } };
    }
    case 'setRecording':
      return {
        type: 'request',
        id,
        method: 'setRecording',
        params: { on: flag(object(params, 'setRecording'), 'on') },
      };
    case 'start':
    case 'stop':
    case 'save':
      return { type: 'request', id, method: method as 'start' | 'stop' | 'save', params: undefined };
    default:
      throw new Refused(`unknown request ${JSON.stringify(method)}`);
  }
}

function siteQuery(from: Fields): SiteQuery {
  const query: SiteQuery = {
    layer: oneOf(from, 'layer', LAYERS),
    groupBy: oneOf(from, 'groupBy', GROUPS),
    sort: oneOf(from, 'sort', SORTS),
    descending: flag(from, 'descending'),
    from: index(from, 'from'),
    to: index(from, 'to'),
  };
  if (query.to < query.from || query.to - query.from > MAX_ROWS)
    throw new Refused(`a window has 0 to ${MAX_ROWS} rows`);
  if (from.filter !== undefined) query.filter = text(from, 'filter');
  if (from.process !== undefined) query.process = indexOrAll(from, 'process');
  if (from.device !== undefined) query.device = indexOrAll(from, 'device');
  if (from.includeDead !== undefined) query.includeDead = flag(from, 'includeDead');
  return query;
}

function timelines(from: Fields): TimelineQuery[] {
  if (!Array.isArray(from.series) || from.series.length > MAX_SERIES) {
    throw new Refused(`series is a list of up to ${MAX_SERIES} queries`);
  }
  return from.series.map((entry: unknown) => timeline(object(entry, 'timeline')));
}

function timeline(from: Fields): TimelineQuery {
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

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
function object(value: unknown, what: string): Fields {
  if (!isFields(value)) throw new Refused(`the parameters of ${what} are an object`);
  return value;
}
function index(from: Fields, name: string): number {
  const value = from[name];
  if (!isIndex(value)) throw new Refused(`${name} is a whole number from 0`);
  return value;
}
function indexOrAll(from: Fields, name: string): number {
  return from[name] === -1 ? -1 : index(from, name);
}
function time(from: Fields, name: string): number {
  const value = from[name];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refused(`${name} is a time in nanoseconds`);
  return value;
}
function flag(from: Fields, name: string): boolean {
  const value = from[name];
  if (typeof value !== 'boolean') throw new Refused(`${name} is true or false`);
  return value;
}
function text(from: Fields, name: string): string {
  const value = from[name];
  if (typeof value !== 'string' || value.length > MAX_TEXT)
    throw new Refused(`${name} is a text of up to ${MAX_TEXT} characters`);
  return value;
}
function oneOf<T extends string>(from: Fields, name: string, allowed: readonly T[]): T {
  const found = allowed.find(candidate => candidate === from[name]);
  if (found === undefined) throw new Refused(`${name} is one of ${allowed.join(', ')}`);
  return found;
}
