import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { processAlive } from '../processes/processAlive';
import { overwrite, readTextIn, writeWhole } from '../../files/files';
import { attempt } from '../../base/attempt';

/**
 * For /bin/sh -c: runs a program that owns the terminal, leaves its process id and its exit status in the trace
 * directory, and keeps its last output on the screen until a key is pressed. What begins with ESC ] 633 shows VS Code where
 * the program's output begins and ends, so that it can be read there.
 * Arguments: directory, the words before and behind the exit status, variables (one word each), command.
 */
const SCRIPT = `
trap : INT QUIT
directory=$1; before=$2; behind=$3; shift 3
printf '\\033]633;A\\007\\033]633;B\\007\\033]633;C\\007'
/bin/sh -c '{ echo $$ 1<>"$0/pid"; } 2>/dev/null; exec env "$@"' "$directory" "$@"
status=$?
printf '\\033]633;D\\007'
{ echo "$status" 1<>"$directory/status"; } 2>/dev/null
printf '\\n%s %s. %s\\n' "$before" "$status" "$behind"
stty -icanon -echo min 1 time 0 2>/dev/null
dd bs=1 count=1 >/dev/null 2>&1
exit 0
`;

const NAME = 'gpu-memory-trace';

/** Keeps places on the disk for what the script will write: the program may fill it. Throws where there is no room now. */
export function prepareTerminal(directory: string): void {
  for (const name of ['pid', 'status'])
    writeWhole(join(directory, name), ['\n'.repeat(16)], { mode: 0o600, ofTrace: true });
}

/** Leaves what the script would, for a program that is started elsewhere. Nothing happens where the directory is gone. */
export function note(directory: string, name: 'pid' | 'status', value: number): void {
  attempt(() => overwrite(join(directory, name), `${value}\n`), undefined);
}

/** Arguments for /bin/sh. The words are printed around the exit status when the program ended. */
export function terminalArguments(
  directory: string,
  [before, behind]: readonly [string, string],
  variables: Record<string, string>,
  command: readonly string[],
): string[] {
  const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return ['-c', SCRIPT, NAME, directory, before, behind, ...words, ...command];
}

/** The trace directory of a shell that runs the script; null: it does not. */
export function directoryOf(shell: readonly string[]): string | null {
  return shell[2] === SCRIPT && shell[3] === NAME ? (shell[4] ?? null) : null;
}

/** Changes when the program has ended. */
export const statusFile = (directory: string): string => join(directory, 'status');

/** The program's exit status, null while it runs. */
export function readStatus(directory: string): number | null {
  return readNumber(statusFile(directory));
}

/** The program's process id, null until it runs. */
export function readPid(directory: string): number | null {
  return readNumber(join(directory, 'pid'));
}

/** Whether the program runs: it has begun, and neither its exit status nor its end is known. */
export function programRuns(directory: string): boolean {
  const pid = readPid(directory);
  if (pid === null || readStatus(directory) !== null) return false;
  return processAlive(pid, statSync(join(directory, 'pid')).mtimeMs);
}

function readNumber(file: string): number | null {
  const text = /^\d+(?=\n)/.exec(readTextIn(dirname(file), basename(file)))?.[0];
  return text === undefined ? null : Number(text);
}
