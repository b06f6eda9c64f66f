// What answers have in common. They have the fields of `report --format json`, but for sizes.
import { fileNotes, missingLines } from '../../report/tables/table';
import { isConclusive, overallVerdict, unjudgedBeside } from '../../analysis/sites/overallVerdict';
import { formatBytes } from '../../text/format';
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
/** The arguments are as in tools.json. Rejects with a sentence. */
export type Handler<Given> = (given: Given, call: Call) => Promise<object>;
/** For rows and what stands beside them, as it is sent. */
const ROOM_BYTES = 1_740;
const MOST_ROWS = 20;

export interface Page {
  limit?: number;
  cursor?: string;
}

/** What is known of a trace, and what is not. `source`: the trace at the moment in question. */
export function aboutOf(trace: string, opened: OpenTrace, verdicts: Verdicts, source: TraceSource = opened.session) {
  const info = source.info();
  const { processes, session, lost } = info;
  const notes = fileNotes(info);
  const { overall, sentence } = overallVerdict(info, verdicts);
  const beside = overall === 'found' ? unjudgedBeside(info, verdicts) : null;
  const open = isConclusive(overall) ? beside : sentence;
  return {
    trace,
    live: opened.session.info().live,
    simulated: session.simulated === true || processes.some(process => process.simulated),
    complete: notes.length + lost.events + Object.keys(lost.byCause).length === 0,
    lost,
    unknown: [...(open === null ? [] : [open]), ...notes, ...missingLines(info, true)],
  };
}

/** Which rows are requested; `cut` puts them into an answer, with where the next ones begin. Throws a sentence. */
export function pageOf({ limit, cursor = '0' }: Page) {
  const from = Number(/^\d{1,9}$/.exec(cursor) ?? NaN);
  if (Number.isNaN(from)) throw new Error(`cursor ${cursor} is not valid: use \`next\` from the previous answer.`);
  const cut = (name: string, rows: readonly object[], total: number, rest: object = {}): object => {
    if (from > 0 && from >= total) throw new Error(`cursor ${cursor} is not valid: there are ${total} rows.`);
    const shown = limit === undefined ? fitting(rows, rest) : rows;
    const to = from + shown.length;
    return { ...rest, [name]: shown, total, next: to < total ? String(to) : null };
  };
  return { from, to: from + (limit ?? MOST_ROWS), cut };
}

/** So many of the first rows as an answer of about 2 KB has room for beside the rest; at least one. */
export function fitting<T extends object>(rows: readonly T[], rest: object): T[] {
  const sentBytes = (value: object): number => Buffer.byteLength(JSON.stringify(JSON.stringify(sized([value]))));
  let room = ROOM_BYTES - sentBytes(rest);
  const end = rows.findIndex((row, i) => (room -= sentBytes(row)) < 0 && i > 0);
  return rows.slice(0, end < 0 ? MOST_ROWS : end);
}

export function pick<T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.map(key => [key, from[key]])) as Pick<T, K>;
}

/** Each number of bytes with what it is in words; rows without what is empty. */
export function sized(value: unknown, key = '', inRow = false): unknown {
  if (Array.isArray(value)) return value.map(each => sized(each, '', true));
  if (typeof value === 'number' && /bytes/i.test(key)) return [Math.round(value), formatBytes(value)];
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Record<string, unknown>).filter(
    ([name, each]) => !inRow || name === 'unknown' || String(each ?? '') !== '',
  );
  return Object.fromEntries(fields.map(([name, each]) => [name, sized(each, name, inRow)]));
}
