import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, newFolder, ownFolder, readTextIn, removeFile, removeFolder, rename } from '../../files/files';
import { list } from '../processes/machine';
import { formatBytes } from '../../text/format';
import { fieldsIn, parseFields } from '../../base/fields';

export interface TraceDirectory {
  path: string;
  freeBytes: number;
  /** The disk is memory. */
  inMemory: boolean;
  /** One sentence when there is less space than a long run needs, or its reserving does not hold. */
  note: string | null;
}

const COMFORTABLE_BYTES = 1024 ** 3;
/** Of the names of trace directories. */
export const PREFIX = 'trace-';
/** Of a file beside one: where it is saved at its end (native/recorder/README.md). */
const END = '.end';
const STALE_MS = 7 * 86_400_000;
/** `statfs` of a disk that is memory. */
const TMPFS = 0x01021994;
/**
 * Where space that was reserved is there: tmpfs, ext, xfs; a container's overlay has one of these below it as a rule. Elsewhere (btrfs,
 * ZFS, NFS, FUSE) a full disk ends the process that writes to it.
 */
const RESERVING = [TMPFS, 0xef53, 0x58465342, 0x794c7630];

/** Why there is no trace directory, in one sentence. `full`: there would be one if a disk had room. */
export interface NoTraceDirectory {
  error: string;
  full: boolean;
}

/**
 * Makes a new trace directory (0700) in the first root that can be written, has space and reserves it, else in the one that has most.
 * What is then written there fails on a full disk.
 */
export function createTraceDirectory(roots: readonly string[], uid: number): TraceDirectory | NoTraceDirectory {
  const usable: ({ root: string } & Space)[] = [];
  const reasons: string[] = [];
  let full = false;
  for (const root of roots) {
    try {
      usable.push({ root, ...prepareRoot(root, uid) });
    } catch (error) {
      reasons.push(`${root}: ${reasonOf(error)}`);
      full ||= isFull(error);
    }
    if (usable.some(isGood)) break;
  }
  const [chosen] = usable.sort((a, b) => Number(isGood(b)) - Number(isGood(a)) || b.freeBytes - a.freeBytes);
  if (chosen === undefined) {
    const error = `No trace directory can be created: ${reasons.join('; ')}; set XDG_CACHE_HOME to a writable folder.`;
    return { error, full };
  }
  const { root, freeBytes, inMemory, reserves } = chosen;
  removeStale(root, Date.now());
  const note =
    freeBytes < COMFORTABLE_BYTES
      ? `Only ${formatBytes(freeBytes)} is free in ${root}, so a long run may drop events.`
      : reserves
        ? null
        : `The file system of ${root} cannot reserve space. If it becomes full, the traced program may end.`;
  try {
    return { path: newFolder(join(root, PREFIX)), freeBytes, inMemory, note };
  } catch (error) {
    return { error: `No trace directory can be created in ${root}: ${reasonOf(error)}.`, full: isFull(error) };
  }
}

type Space = Pick<TraceDirectory, 'freeBytes' | 'inMemory'> & { reserves: boolean };
const isGood = (space: Space): boolean => space.reserves && space.freeBytes >= COMFORTABLE_BYTES;

/** Throws why this root cannot be used; one that another user owns is refused. */
function prepareRoot(root: string, uid: number): Space {
  makeFolder(root);
  const status = lstatSync(root);
  if (!status.isDirectory()) throw new Error('it is not a folder');
  if (status.uid !== uid) throw new Error('it belongs to another user');
  if (!ownFolder(root)) throw new Error('other users may write to it');
  accessSync(root, constants.W_OK | constants.X_OK);
  const space = statfsSync(root);
  const reserves = RESERVING.includes(space.type);
  return { freeBytes: space.bavail * space.bsize, inMemory: space.type === TMPFS, reserves };
}

/** No space, or no more of it for this user. */
export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Removes what killed launchers left: trace directories that nothing was written to for a week, no process in them alive. */
export function removeStale(root: string, nowMs: number): void {
  for (const name of readdirSync(root).filter(entry => entry.startsWith(PREFIX))) {
    const path = join(root, name);
    try {
      if (name.endsWith(END) && !existsSync(path.slice(0, -END.length))) removeFile(path);
      if (!ownFolder(path)) continue;
      const written = [path, ...readdirSync(path).map(file => join(path, file))].map(file => statSync(file).mtimeMs);
      const lives = [...processesIn(path)].some(id => existsSync(`/proc/${id}`));
      if (nowMs - Math.max(...written) > STALE_MS && !lives) removeTraceDirectory(path);
    } catch {
      // Somebody else removes it now.
    }
  }
}

/** Whether a folder has the log of a traced process. */
export const isTraceDirectory = (path: string): boolean => list(path).some(name => name.endsWith('.gmtlog'));

/** Numbers of the processes that have a log in a trace directory, or that its launcher names. */
export function processesIn(directory: string): Set<number> {
  const logs = list(directory).flatMap(name => /^(\d+)-.*\.gmtlog$/.exec(name)?.[1] ?? []);
  const ids = new Set(logs.map(Number));
  // Without the launcher's facts the logs' names are used.
  const session = parseFields(readTextIn(directory, 'session.json'));
  for (const { pid } of fieldsIn(session?.processes)) if (typeof pid === 'number') ids.add(pid);
  return ids;
}

/** Nothing happens where it is gone. Renamed first: a process that outlives its launcher may begin a log in it meanwhile. */
export function removeTraceDirectory(path: string): void {
  if (!existsSync(path)) return;
  rename(path, `${path}-gone`);
  removeFolder(`${path}-gone`);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  EDQUOT: 'the quota is used up',
  EFBIG: 'the file is larger than the limit (ulimit -f)',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
};

/** The reason of a failure as the system words it. */
export function reasonOf(error: unknown): string {
  const known = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  return known ?? (error instanceof Error ? error.message : String(error));
}
