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

/**
 * Makes a new trace directory (0700) in the first root that can be written and has space, else in the first that can
 * be written. The error is one sentence.
 */
export function createTraceDirectory(roots: readonly string[], uid: number): TraceDirectory | { error: string } {
  const usable: { root: string; freeBytes: number }[] = [];
  const reasons: string[] = [];
  for (const root of roots) {
    const result = prepareRoot(root, uid);
    if (typeof result === 'string') {
      reasons.push(result);
      continue;
    }
    usable.push({ root, freeBytes: result });
    if (result >= COMFORTABLE_BYTES) break;
  }
  const chosen = usable.find(entry => entry.freeBytes >= COMFORTABLE_BYTES) ?? usable[0];
  if (chosen === undefined) {
    return { error: `No trace directory can be made: ${reasons.join('; ')}; set XDG_CACHE_HOME to a writable folder.` };
  }
  removeStale(chosen.root, Date.now());
  const note =
    chosen.freeBytes >= COMFORTABLE_BYTES
      ? null
      : `Only ${formatBytes(chosen.freeBytes)} are free in ${chosen.root}: a long run may lose events.`;
  return { path: mkdtempSync(join(chosen.root, PREFIX)), freeBytes: chosen.freeBytes, note };
}

/** Free bytes, or why this root cannot be used. A root that another user owns is refused. */
function prepareRoot(root: string, uid: number): number | string {
  try {
    makeFolder(root);
    const status = lstatSync(root);
    if (!status.isDirectory()) return `${root} is not a folder`;
    if (status.uid !== uid) return `${root} belongs to another user`;
    accessSync(root, constants.W_OK | constants.X_OK);
    const space = statfsSync(root);
    return space.bavail * space.bsize;
  } catch (error) {
    return `${root}: ${reasonOf(error)}`;
  }
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
  return Number.isSafeInteger(own) && own > 0 ? own : Math.min(8 * 1024 ** 3, Math.max(16 * 1024 ** 2, freeBytes / 2));
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
