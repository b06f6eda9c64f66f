import { stripVTControlCharacters } from 'node:util';

/** Letters of one that is shown. */
const MOST_LETTERS = 400;
const HEADER = 'Traceback (most recent call last):';
/** `torch.OutOfMemoryError: CUDA out of memory`, `KeyError: 3`, `SystemExit`. */
const NAMED = /^[A-Za-z_][\w.]*(?:: .*)?$/;
/** Without a header: what Python does not even compile. */
const NOT_COMPILED = /^(?:Syntax|Indentation|Tab)Error: .*$/;

/** argparse's and click's line on arguments that they do not take: `train.py: error: unrecognized arguments: --x`. */
const REFUSED = /^(?:.+: error|Error): .+$/;

/** Why a program refused its arguments, in its own line; null: it printed none. */
export function refusalIn(output: string): string | null {
  const found = stripVTControlCharacters(output)
    .split(/\r?\n/)
    .findLast(line => REFUSED.test(line));
  return found?.slice(0, MOST_LETTERS) ?? null;
}

/** The last line of the traceback that a Python program printed last; null: it printed none. */
export function exceptionIn(output: string): string | null {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  const begin = lines.findLastIndex(line => line.endsWith(HEADER));
  const found =
    begin < 0 ? lines.findLast(line => NOT_COMPILED.test(line)) : lines.slice(begin + 1).find(line => NAMED.test(line));
  return found === undefined ? null : found.slice(0, MOST_LETTERS);
}
