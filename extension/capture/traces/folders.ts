import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import type { Environment } from '../processes/machine';
import { attempt } from '../../base/attempt';

const PRODUCT = 'gpu-memory-trace';

/**
 * The user's cache folder for this product; by the XDG rules a relative value counts as unset. Folders that sudo left
 * from another user are passed over: what root makes there would be in that user's way.
 */
export function cacheFolder(environment: Environment): string {
  const cache = own(absolute(environment.XDG_CACHE_HOME));
  // A user id may have no entry, as in some containers.
  const home = own(environment.HOME) ?? attempt(() => userInfo().homedir, '/');
  return join(cache ?? join(home, '.cache'), PRODUCT);
}

/** Where a trace directory may be made, best first. */
export function traceRoots(environment: Environment, uid: number): string[] {
  const runtime = own(absolute(environment.XDG_RUNTIME_DIR));
  const roots = [join(cacheFolder(environment), 'live'), join(tmpdir(), `${PRODUCT}-${uid}`)];
  return runtime === undefined ? roots : [join(runtime, PRODUCT), ...roots];
}

/** Where runs without `-o` are kept: those of each working folder in one of their own. */
export function keptTracesRoot(environment: Environment): string {
  return join(cacheFolder(environment), 'traces');
}

/** Where those are kept that ran in `cwd`. */
export function keptTracesFolder(environment: Environment, cwd: string): string {
  const digest = createHash('sha256').update(cwd).digest('hex').slice(0, 8);
  return join(keptTracesRoot(environment), `${basename(cwd).replace(/[^\w.-]+/g, '_')}-${digest}`);
}

/** The folder, unless we are root and it is another user's. */
function own(folder: string | undefined): string | undefined {
  if (folder === undefined || process.getuid?.() !== 0) return folder;
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  return owner === undefined || owner === 0 ? folder : undefined;
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
