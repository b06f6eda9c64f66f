// Where a finding stands in the source now.
import { sourcePath } from '../files/sourcePath';
import type { Finding } from '../protocol/verdicts';
import type { SourceOrigin } from './fixEdit';
import type { SourceLines } from './sourceLines';

/** A line as the trace names it. */
export type Place = { file: string | null; line: number | null };

/** A line of the trace, from 1, where it stands now; null where it has no file, or was deleted. */
export function lineNow(
  place: Place | null,
  { folders, sinceMs }: SourceOrigin,
  lines: SourceLines,
): { path: string; line: number } | null {
  if (place === null || place.file === null || place.line === null) return null;
  if (place.file === '' || place.file.startsWith('<') || place.line < 1) return null;
  const path = sourcePath(place.file, folders);
  const line = lines.now(path, place.line, sinceMs);
  return line === null ? null : { path, line };
}

/** The line at which the editor shows a finding: what keeps the memory, else what allocates it. */
export function shownPlace({ holder, place }: Finding, origin: SourceOrigin, lines: SourceLines): Place | null {
  return lineNow(holder, origin, lines) === null ? place : holder;
}
