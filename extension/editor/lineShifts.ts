// Where a line of the program that runs stands now, after edits of its file.

/** One edit: the lines [start, start + removed) became `added` lines. Lines count from 1. */
export interface Edit {
  start: number;
  removed: number;
  added: number;
}

/**
 * The edits of one file, each with its time. A line that an edit took away is `null`: what ran there no longer stands in
 * the file. A line whose text only changed inside stays.
 */
export class LineShifts {
  private readonly edits: (Edit & { atMs: number })[] = [];

  add(edit: Edit, atMs: number): void {
    this.edits.push({ ...edit, atMs });
  }

  /** Edits were seen since then. */
  changedSince(sinceMs: number): boolean {
    return this.edits.some(edit => edit.atMs >= sinceMs);
  }

  /** Today's line of what was `line` at `sinceMs`; null where it was deleted. */
  toNow(line: number, sinceMs: number): number | null {
    let at = line;
    for (const { start, removed, added, atMs } of this.edits) {
      if (atMs < sinceMs || at < start) continue;
      if (at >= start + removed) at += added - removed;
      else if (at >= start + added) return null;
    }
    return at;
  }
}

/** Where an edit began and ended (lines and columns from 0), and its text. */
export interface Replacement {
  start: { line: number; character: number };
  end: { line: number; character: number };
  text: string;
}

/** The lines that an edit replaces. Text that is put in front of a whole line leaves that line as it is. */
export function editOf({ start, end, text }: Replacement): Edit {
  const breaks = text.split('\n').length - 1;
  const whole = start.character === 0 && end.character === 0 && (text === '' || text.endsWith('\n'));
  // Else the line of the start stays, and those after it are replaced.
  return { start: start.line + (whole ? 1 : 2), removed: end.line - start.line, added: breaks };
}
