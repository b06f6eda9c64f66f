// A Python statement in the lines of a file.
import type { Fix } from '../protocol/verdicts';

/** Where it stands: lines from 0 after its first one, columns from 0. */
export interface StatementRange {
  column: number;
  lines: number;
  endColumn: number;
}

/** Lines that one statement may have. */
const MOST_LINES = 40;
/** A string of one line, or the quotes that begin a longer one; a comment; a bracket; a backslash at the end of a line. */
const TOKEN = /("""|''')|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(#.*)|([([{])|([)\]}])|(\\$)/g;

/** The statement that begins in the first of these lines, without its indentation and the comment behind it. */
export function statementRange(lines: readonly string[]): StatementRange {
  const column = /\S/.exec(lines[0] ?? '')?.index ?? 0;
  let [depth, quotes] = [0, ''];
  const most = Math.min(lines.length, MOST_LINES);
  for (let at = 0; at < most; at++) {
    let code = lines[at] ?? '';
    let continues = false;
    for (const { 0: token, 1: long, 3: comment, 4: opens, 5: closes, 6: back, index } of code.matchAll(TOKEN)) {
      if (quotes !== '') quotes = token === quotes ? '' : quotes;
      else if (long) quotes = long;
      else if (comment) code = code.slice(0, index);
      else if (opens) depth++;
      else if (closes) depth--;
      else if (back) continues = true;
    }
    if (depth <= 0 && quotes === '' && !continues) return { column, lines: at, endColumn: code.trimEnd().length };
  }
  return { column, lines: 0, endColumn: (lines[0] ?? '').length };
}

/** Whether the lines from a fix's line on are the ones that it replaces, spaces aside. */
export function readsFixed(lines: readonly string[], { line, endLine, column, after, statement }: Fix): boolean {
  const bare = (text: string): string => text.replace(/\s+/g, '');
  const begin = lines.slice(0, after.split('\n').length).join('\n');
  if (begin.startsWith(after, column - 1)) return true;
  return line === endLine && bare(lines[0] ?? '').startsWith(bare(statement));
}
