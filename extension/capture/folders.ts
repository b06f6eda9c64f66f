import { mkdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Environment } from './environment';

const PRODUCT = 'gpu-memory-trace';

/** The user's cache folder for this product; by the XDG rules a relative value counts as unset. */
export function cacheFolder(environment: Environment): string {
  const home = environment.HOME ?? homedir();
  return join(absolute(environment.XDG_CACHE_HOME) ?? join(home, '.cache'), PRODUCT);
}

/** Where a trace directory may be made, best first. */
export function traceRoots(environment: Environment, uid: number): string[] {
  const runtime = absolute(environment.XDG_RUNTIME_DIR);
  const roots = [join(cacheFolder(environment), 'live'), join(tmpdir(), `${PRODUCT}-${uid}`)];
  return runtime === undefined ? roots : [join(runtime, PRODUCT), ...roots];
}

/** Where runs without `-o` are kept. */
export function keptTracesFolder(environment: Environment): string {
  return join(cacheFolder(environment), 'traces');
}

/**
 * Makes a private folder and those above it. Not `recursive: true`: below a folder that cannot hold folders, such as
 * /proc, Node 20 then never returns.
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
