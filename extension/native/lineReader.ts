import { readBytes } from '../files/files';
import { attempt } from '../base/attempt';
import { remembered } from '../base/maps';

/** Longer files are no source that a person wrote. */
const MOST_BYTES = 4 << 20;

/** Reads lines of source files; each file is read once. Null where there is no such file or line. */
export function createLineReader(): (file: string, line: number) => string | null {
  const files = new Map<string, string[]>();
  return (file, line) => remembered(files, file, () => readLines(file))[line - 1] ?? null;
}

function readLines(file: string): string[] {
  const text = attempt(() => readBytes(file, MOST_BYTES), null);
  return text === null ? [] : text.toString('utf8').split(/\r?\n/);
}
