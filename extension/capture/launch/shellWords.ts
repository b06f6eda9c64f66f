/** White space; what stands in quotes, or behind a backslash; other letters, at last a quote or backslash that begins nothing. */
const PARTS = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|[^\s'"\\]+|[^]/g;

/** Splits a line as a POSIX shell splits words, without expanding anything. Null: a quote is not closed. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (const [part, single, double, escaped] of line.matchAll(PARTS)) {
    if (part === '"' || part === "'") return null;
    if (part.trim() !== '') word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? part);
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

/** One word of a POSIX shell, whatever is in it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Writes words as one line that a POSIX shell reads back as the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))).join(' ');
}
