import type { Note } from './trace';

/** Codes of `gmt_note_code` (native/wire/layout.h) that say that something is missing from the trace; 0: the reader's own. */
const WARNINGS: ReadonlySet<number> = new Set([0, 1, 2, 3, 6, 10]);

/** False for what only tells how the trace was made. */
export function isWarning(note: Note): boolean {
  return WARNINGS.has(note.code);
}
