// Files that can be shown: a saved trace as it is, a PyTorch memory snapshot as the trace that it is turned into.
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { newFolder, readStart, removeFolder } from '../files/files';
import { attempt } from '../protocol/attempt';
import type { NativeAddon } from './native';

/** What `NativeAddon.open` takes; `release` when nothing reads it any more. */
export interface TraceFile {
  path: string;
  release(): void;
}

/** The first byte of a pickle of protocol 2 and later. */
const PICKLE = 0x80;
const EXTENSIONS: ReadonlySet<string> = new Set(['.pickle', '.pkl']);
const folders = new Set<string>();

/** Whether a file is to be read as a memory snapshot: by its name, else by its first byte. */
export function isSnapshot(file: string): boolean {
  if (EXTENSIONS.has(extname(file).toLowerCase())) return true;
  return attempt(() => readStart(file, 1)[0] === PICKLE, false); // a folder, or what `open` will say more about
}

/**
 * The trace of a file. A snapshot is turned into one in a temporary folder, which goes with `release`, and at the latest with
 * this process. Rejects with one sentence.
 */
export async function traceFile(addon: Pick<NativeAddon, 'importSnapshot'>, file: string): Promise<TraceFile> {
  if (!isSnapshot(file)) return { path: file, release: () => undefined };
  const folder = newFolder(join(tmpdir(), 'gpu-memtrace-snapshot-'));
  if (folders.size === 0) process.once('exit', removeAll);
  folders.add(folder);
  const release = (): void => remove(folder);
  try {
    const path = join(folder, 'snapshot.gputrace');
    await addon.importSnapshot(file, path);
    return { path, release };
  } catch (error) {
    release();
    throw error;
  }
}

function remove(folder: string): void {
  removeFolder(folder);
  folders.delete(folder);
  if (folders.size === 0) process.removeListener('exit', removeAll);
}

function removeAll(): void {
  for (const folder of folders) remove(folder);
}
