import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { addFile, changedMs, makeFolder, removeFile } from '../../files/files';
import { isJobFolder } from './jobFolder';
import { reasonOf } from './traceDirectory';

/** So many traces stay in the folder. */
export const KEPT = 10;
const SUFFIX = '.gputrace';
const OOM_FILE = /\/oom-[\d-]+\.md$/;

/** `<folder>/<script>-<time>.gputrace`; makes the folder. */
export function keptTraceFile(folder: string, command: readonly string[], now: Date): string {
  makeFolder(folder);
  const time = now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return join(folder, `${scriptName(command)}-${time}-${process.pid}${SUFFIX}`);
}

/** What a trace is called by its file: that of `keptTraceFile` by its script. */
export function traceTitle(file: string): string {
  return basename(file).replace(/-\d{8}-\d{6}-\d+\.gputrace$/, '');
}

/** The script a command runs, for people: the first `.py`, the module behind `-m`, else the program. */
export function scriptName(command: readonly string[]): string {
  const script = command.find(word => word.endsWith('.py'));
  const module = command[command.indexOf('-m') + 1];
  const name = script ?? (command.includes('-m') && module !== undefined ? module : command[0]) ?? 'program';
  const safe = basename(name)
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '');
  return safe === '' ? 'program' : safe;
}

/**
 * Writes a document on memory that ran out: `oom-PID.md`, `oom-PID-2.md` where there is one of another run, since a container that starts
 * again has the same PIDs. Gives its path. Throws.
 */
export function keepOomDocument(folder: string, stem: string, text: string): string {
  makeFolder(folder);
  const name = (at: number): string => `${stem}${at === 1 ? '' : `-${at}`}.md`;
  return join(folder, name(addFile(folder, 1, name, () => text)));
}

/** Deletes all but the newest traces of the folder, and what was written of runs from before. */
export function pruneKeptTraces(folder: string): void {
  const all = readdirSync(folder)
    .map(name => join(folder, name))
    .map(path => ({ path, time: changedMs(path) }))
    .sort((a, b) => b.time - a.time);
  const gone = all.filter(({ path }) => path.endsWith(SUFFIX)).slice(KEPT);
  const documents = all.filter(({ path, time }) => OOM_FILE.test(path) && time < (gone[0]?.time ?? 0));
  for (const { path } of [...gone, ...documents]) removeFile(path);
}

/** One sentence when a file cannot be written there, or would replace a part of `inputs`; else null. Nothing is created. */
export function unwritable(file: string, inputs: readonly string[] = []): string | null {
  const folder = dirname(resolve(file));
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    const input = status?.isFile() ? inputs.find(each => isPartOf(file, each)) : undefined;
    if (input !== undefined) return `${file} was not written, because it is the input ${input}. Choose another file.`;
    if (status?.isDirectory()) return `${file} cannot be written: it is a folder. Choose a file.`;
    if (!statSync(folder).isDirectory()) return `${file} cannot be written: ${folder} is not a folder.`;
    accessSync(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return `${file} cannot be written: ${folder}: ${reasonOf(error)}.`;
  }
}

/** Whether a file is the input itself, by whatever name, or lies in it; what a user keeps beside the runs of a job is no part of it. */
function isPartOf(file: string, input: string): boolean {
  const [one, other] = [statSync(file), statSync(input, { throwIfNoEntry: false })];
  if (other === undefined || !other.isDirectory()) return one.ino === other?.ino && one.dev === other.dev;
  const below = relative(realpathSync(input), realpathSync(file));
  return !below.startsWith('..') && (below.includes('/') || !isJobFolder(input));
}
