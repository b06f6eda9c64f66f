import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { addFile, makeFolder, removeFile } from '../../files/files';
import { list } from '../processes/machine';
import { isJobFolder } from './jobFolder';
import { reasonOf } from './traceDirectory';

/** So many traces stay of the programs that ran in one folder, and so much of those of all folders. */
export const [KEPT, KEPT_BYTES] = [30, 10 * 1024 ** 3];
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

/** Of each folder the newest traces stay, as many of all folders as have room; and what was written of runs since then. */
export function pruneKeptTraces(root: string): void {
  const below = list(root).map(name => join(root, name));
  const all = [root, ...below.filter(path => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())].map(
    newestFirst,
  );
  let room = KEPT_BYTES;
  const stay = new Set(
    all
      .flatMap(files => files.filter(isTrace).slice(0, KEPT))
      .sort(byTime)
      .filter(({ size }, i) => (room -= size) >= 0 || i === 0),
  );
  for (const files of all) {
    const gone = files.filter(file => isTrace(file) && !stay.has(file));
    const documents = files.filter(({ path, time }) => OOM_FILE.test(path) && time < (gone[0]?.time ?? 0));
    for (const { path } of [...gone, ...documents]) removeFile(path);
  }
}

type KeptFile = { path: string; time: number; size: number };
const isTrace = ({ path }: KeptFile): boolean => path.endsWith(SUFFIX);
const byTime = (a: KeptFile, b: KeptFile): number => b.time - a.time;

function newestFirst(folder: string): KeptFile[] {
  const files = list(folder).flatMap(name => {
    const path = join(folder, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    return status?.isFile() ? [{ path, time: status.mtimeMs, size: status.size }] : [];
  });
  return files.sort(byTime);
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
