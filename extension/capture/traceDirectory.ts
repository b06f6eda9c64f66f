import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes } from '../protocol/format';

export interface TraceDirectory {
  path: string;
  freeBytes: number;
  /** One sentence when there is less space than a long run needs. */
  note: string | null;
}

const COMFORTABLE_BYTES = 1024 ** 3;

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
  const note =
    chosen.freeBytes >= COMFORTABLE_BYTES
      ? null
      : `Only ${formatBytes(chosen.freeBytes)} are free in ${chosen.root}: a long run may lose events.`;
  return { path: mkdtempSync(join(chosen.root, 'trace-')), freeBytes: chosen.freeBytes, note };
}

/** Free bytes, or why this root cannot be used. A root that another user owns is refused. */
function prepareRoot(root: string, uid: number): number | string {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
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
