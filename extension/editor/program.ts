// Which program a trace is of, by the launcher's facts in it.
import { sourcePath } from '../files/sourcePath';
import type { WindowTrace } from './windowTraces';

type Traced = Pick<WindowTrace, 'facts' | 'folders'>;

function commandOf({ facts }: Traced): string[] {
  const command = facts?.info.session.command;
  return Array.isArray(command) ? command.map(String) : [];
}

/** Path of the script that ran, on this machine; null: it was a module, or no Python. */
export function scriptOf(traced: Traced): string | null {
  const script = commandOf(traced).find(word => word.endsWith('.py'));
  return script === undefined ? null : sourcePath(script, traced.folders);
}

/** Equal for the runs of one program, with whatever arguments where it is a script; null: it is not known. */
export function programOf(traced: Traced): string | null {
  const [, ...words] = commandOf(traced);
  return scriptOf(traced) ?? (words.length === 0 ? null : [traced.folders.cwd, ...words].join('\0'));
}
