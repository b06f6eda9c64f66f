import { readFileSync } from 'node:fs';

/** Longer files are no source that a person wrote. */
const MOST_BYTES = 4 << 20;

/** Reads lines of source files; each file is read once. Null where there is no such file or line. */
export function createLineReader(): (file: string, line: number) => string | null {
  const files = new Map<string, string[]>();
  return (file, line) => {
    let lines = files.get(file);
    if (lines === undefined) files.set(file, (lines = readLines(file)));
    return lines[line - 1] ?? null;
  };
}

function readLines(file: string): string[] {
  try {
    const text = readFileSync(file);
    return text.length > MOST_BYTES ? [] : text.toString('utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}
