// What answers have in common. They have the fields of `report --format json`, but for sizes.
import { fileNotes, missingLines } from '../../analysis/report/table';
import { standingOf, tells } from '../../analysis/sites/standing';
import { formatBytes } from '../../protocol/format';
import type { TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import type { OpenTrace } from '../namedTrace';
import type { McpServer, ServerContext } from './mcpSdk';

export interface Call {
  server: McpServer;
  context: ServerContext;
  /** Where the product's files are. */
  dist: string;
}
/** What is asked for is as tools.json says. Rejects with a sentence. */
export type Handler<Given> = (given: Given, call: Call) => Promise<object>;
export interface Page {
  limit?: number;
  cursor?: string;
}

/** What is known of a trace, and what is not. `source`: the trace as it is asked about. */
export function aboutOf(trace: string, opened: OpenTrace, verdicts: Verdicts, source: TraceSource = opened.session) {
  const info = source.info();
  const { processes, session, lost } = info;
  const notes = fileNotes(info);
  const { standing, sentence } = standingOf(info, verdicts);
  return {
    trace,
    live: opened.session.info().live,
    simulated: session.simulated === true || processes.some(process => process.simulated),
    complete: notes.length + lost.events + Object.keys(lost.byCause).length === 0,
    lost,
    unknown: [...(tells(standing) ? [] : [sentence]), ...notes, ...missingLines(info, true)],
  };
}

/** Which rows are wanted, and where the next ones begin. */
export function pageOf({ limit, cursor }: Page, usual: number) {
  const from = Number(cursor ?? 0);
  const to = from + (limit ?? usual);
  return { from, to, more: (total: number) => ({ total, next: to < total ? String(to) : null }) };
}

export function pick<T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.map(key => [key, from[key]])) as Pick<T, K>;
}

/** Each number of bytes with what it is in words. */
export function sized(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map(each => sized(each));
  if (typeof value === 'number' && /bytes/i.test(key)) return [Math.round(value), formatBytes(value)];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sized(each, name)]));
}
