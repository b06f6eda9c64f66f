// Messages between the extension host and the page of a job.
import { isFields } from '../../base/fields';
import type { JobView } from '../job';

export type ToJobHost =
  | { type: 'ready' }
  /** The trace of the rank with this key. */
  | { type: 'openRank'; key: string }
  | { type: 'openLine'; file: string; line: number }
  | { type: 'showRun'; run: string };
export type ToJobPage = { type: 'job'; job: JobView } | { type: 'problem'; sentence: string };

const MOST_TEXT = 4_000;

/** The page's message, or null where it is none. */
export function jobMessage(value: unknown): ToJobHost | null {
  if (!isFields(value)) return null;
  const { type, key, file, line, run } = value;
  const text = (given: unknown): given is string => typeof given === 'string' && given.length <= MOST_TEXT;
  if (type === 'ready') return { type };
  if (type === 'openRank' && text(key)) return { type, key };
  if (type === 'openLine' && text(file) && Number.isSafeInteger(line)) return { type, file, line: Number(line) };
  return type === 'showRun' && text(run) ? { type, run } : null;
}
