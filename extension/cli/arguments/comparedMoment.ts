import { existsSync } from 'node:fs';
import { parseTraceTime, type TraceTime } from '../../protocol/traceTime';

/** A trace and a moment of it: `run.gputrace`, `run.gputrace@step:120`. */
export interface Compared {
  file: string;
  at: TraceTime | null;
}

/** What stands behind --compare; null: the time is none. A file whose own name has an @ is taken as it is. */
export function parseCompared(text: string): Compared | null {
  const split = text.lastIndexOf('@');
  if (split < 0 || existsSync(text)) return { file: text, at: null };
  const at = parseTraceTime(text.slice(split + 1));
  return at === null ? null : { file: text.slice(0, split), at };
}
