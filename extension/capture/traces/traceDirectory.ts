import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folders';
import { formatBytes } from '../../protocol/format';

export interface TraceDirectory {
  path: string;
  freeBytes: number;
  /** One sentence when there is less space than a long run needs. */
  note: string | null;
}

const COMFORTABLE_BYTES = 1024 ** 3;
const PREFIX = 'trace-';
const STALE_MS = 7 * 86_400_000;

/** Why there is no trace directory, in one sentence. `full`: there would be one if a disk had room. */
export interface NoTraceDirectory {
  error: string;
  full: boolean;
}

/**
 * Makes a new trace directory (0700) in the first root that can be written and has space, else in the one that has most.
 * What is then written there fails on a full disk.
 */
export function createTraceDirectory(roots: readonly string[], uid: number): TraceDirectory | NoTraceDirectory {
  const usable: { root: string; freeBytes: number }[] = [];
  const reasons: string[] = [];
  let full = false;
  for (const root of roots) {
    try {
      usable.push({ root, freeBytes: prepareRoot(root, uid) });
    } catch (error) {
      reasons.push(`${root}: ${reasonOf(error)}`);
      full ||= isFull(error);
    }
    if ((usable.at(-1)?.freeBytes ?? 0) >= COMFORTABLE_BYTES) break;
  }
  const [chosen] = usable.sort((a, b) => b.freeBytes - a.freeBytes);
  if (chosen === undefined) {
    const error = `No trace directory can be made: ${reasons.join('; ')}; set XDG_CACHE_HOME to a writable folder.`;
    return { error, full };
  }
  const { root, freeBytes } = chosen;
  removeStale(root, Date.now());
  const note =
    freeBytes >= COMFORTABLE_BYTES
      ? null
      : `Only ${formatBytes(freeBytes)} are free in ${root}: a long run may lose events.`;
  try {
    return { path: mkdtempSync(join(root, PREFIX)), freeBytes, note };
  } catch (error) {
    return { error: `No trace directory can be made in ${root}: ${reasonOf(error)}.`, full: isFull(error) };
  }
}

/** Free bytes. Throws why this root cannot be used; one that another user owns is refused. */
function prepareRoot(root: string, uid: number): number {
  makeFolder(root);
  const status = lstatSync(root);
  if (!status.isDirectory()) throw new Error('it is not a folder');
  if (status.uid !== uid) throw new Error('it belongs to another user');
  accessSync(root, constants.W_OK | constants.X_OK);
  const space = statfsSync(root);
  return space.bavail * space.bsize;
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
      const written = [path, ...readdirSync(path).map(file => join(path, file))].map(file => statSync(file).mtimeMs);
      if (nowMs - Math.max(...written) > STALE_MS && !processLives(path)) removeTraceDirectory(path);
    } catch {
      // Somebody else removes it now.
    }
  }
}

function processLives(directory: string): boolean {
  const ids = readdirSync(directory).map(name => /^(\d+)-.*\.gmtlog$/.exec(name)?.[1]);
  try {
    const session = JSON.parse(readFileSync(join(directory, 'session.json'), 'utf8')) as {
      processes?: { pid?: number }[];
    };
    ids.push(...(session.processes ?? []).map(process => String(process.pid)));
  } catch {
    // Without the launcher's facts the logs' names tell.
  }
  return ids.some(id => id !== undefined && existsSync(`/proc/${id}`));
}

export function removeTraceDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** The size limit of one process's log: the user's own (GPU_MEMTRACE_BUDGET), else half of what is free, up to 8 GB. */
export function logBudget(environment: Record<string, string | undefined>, freeBytes: number): number {
  const own = Number(environment.GPU_MEMTRACE_BUDGET);
  return Number.isSafeInteger(own) && own > 0 ? own : Math.min(8 * 1024 ** 3, freeBytes / 2);
}

/** What the system says about a failure, in words. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'EROFS':
      return 'the file system is read-only';
    case 'ENOSPC':
      return 'no space is left';
    case 'EDQUOT':
      return 'no more space may be used';
    case 'EFBIG':
      return 'the file is bigger than files may be (ulimit -f)';
    case 'ENOENT':
      return 'no such file or folder';
    case 'ENOTDIR':
      return 'a part of the path is not a folder';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
