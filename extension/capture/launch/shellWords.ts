/** Splits a line as a POSIX shell splits words, without expanding anything. Null: a quote is not closed. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word = '';
  let inWord = false;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at] as string;
    if (quote !== null) {
      if (letter === quote) quote = null;
      else if (letter === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')) word += line[++at] ?? '';
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      inWord = true;
    } else if (letter === '\\' && at + 1 < line.length) {
      word += line[++at] ?? '';
      inWord = true;
    } else if (/\s/.test(letter)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
    } else {
      word += letter;
      inWord = true;
    }
  }
  if (quote !== null) return null;
  if (inWord) words.push(word);
  return words;
}

/** Writes words as one line that a POSIX shell reads back as the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
