import { MAX_MARK_NAME } from '../../protocol/marks';
import { applyOptions, Usage } from './optionReader';

export interface MarkArguments {
  verb: 'mark';
  /** A process that is traced, or the directory of a trace that is recorded. */
  target: string;
  name: string;
}

/** What stands behind `mark`. Throws `Usage`, `HelpRequested`. */
export function parseMark(words: readonly string[]): MarkArguments {
  const [target, name, ...more] = applyOptions({ verb: 'mark' }, words);
  if (target === undefined || name === undefined || more.length > 0 || name.trim() === '')
    throw new Usage(
      'Give a process and a marker name: gpu-memtrace mark PID|FOLDER NAME, such as mark 4711 "before eval"',
    );
  if (name.length > MAX_MARK_NAME) throw new Usage(`A marker name has at most ${MAX_MARK_NAME} characters.`);
  return { verb: 'mark', target, name: name.trim() };
}
