import { stripVTControlCharacters } from 'node:util';
import { fileLine } from '../../text/format';

/** Letters of one that is shown. */
const MOST_LETTERS = 400;
const HEADER = 'Traceback (most recent call last):';
/** `torch.OutOfMemoryError: CUDA out of memory`, `KeyError: 3`, `SystemExit`. */
const NAMED = /^[A-Za-z_][\w.]*(?:: .*)?$/;
/** Without a header: what Python does not even compile. */
const NOT_COMPILED = /^(?:Syntax|Indentation|Tab)Error: .*$/;

/** A frame in the program's own code: neither of a library nor of Python itself. */
const FRAME = /^ *File "(?!<)(?!.*\/(?:site-packages|dist-packages|lib\/python[\d.]+)\/)([^"]+)", line (\d+)/;
/** argparse's and click's line on arguments that they do not take: `train.py: error: unrecognized arguments: --x`. */
const REFUSED = /^(?:.+: error|Error): .+$/;

/** Why a program refused its arguments, in its own line; null: it printed none. */
export function refusalIn(output: string): string | null {
  const found = stripVTControlCharacters(output)
    .split(/\r?\n/)
    .findLast(line => REFUSED.test(line));
  return found?.slice(0, MOST_LETTERS) ?? null;
}

export interface PythonException {
  /** `KeyError: 3 (train.py:41)` */
  sentence: string;
  /** The innermost line of the program's own code, as Python names it. */
  place?: { file: string; line: number };
}

/** The last line of the traceback that a Python program printed last; null: it printed none. */
export function exceptionIn(output: string): PythonException | null {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  const begin = lines.findLastIndex(line => line.endsWith(HEADER));
  const at =
    begin < 0
      ? lines.findLastIndex(line => NOT_COMPILED.test(line))
      : lines.findIndex((line, i) => i > begin && NAMED.test(line));
  if (at < 0) return null;
  const frames = lines.slice(Math.max(begin, 0), at).flatMap(line => FRAME.exec(line)?.slice(1) ?? []);
  const [file, line] = frames.slice(-2);
  const message = `${lines[at]?.slice(0, MOST_LETTERS)}`;
  if (file === undefined) return { sentence: message };
  const place = { file, line: Number(line) };
  return { sentence: `${message} (${fileLine(place.file, place.line)})`, place };
}
