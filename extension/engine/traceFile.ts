// Files that can be shown: a saved trace as it is, a PyTorch memory snapshot as the trace that it is turned into.
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { newFolder, readStart, removeFile, removeFolder, setTimes } from '../files/files';
import { attempt } from '../protocol/attempt';
import type { NativeAddon } from './native';
import { packingOf, unpack } from './packedFile';

/** What `NativeAddon.open` takes; `release` when nothing reads it any more. */
export interface TraceFile {
  path: string;
  release(): void;
}

/** The first byte of a pickle of protocol 2 and later. */
const PICKLE = 0x80;
const EXTENSIONS: ReadonlySet<string> = new Set(['.pickle', '.pkl', '.gz', '.zip']);
const folders = new Set<string>();

/** Whether a file is to be read as a memory snapshot, which may be packed: by its name, else by its first bytes. */
export function isSnapshot(file: string): boolean {
  if (EXTENSIONS.has(extname(file).toLowerCase())) return true;
  const first = firstBytes(file);
  return first[0] === PICKLE || packingOf(first) !== null;
}

/** Nothing of a folder, or of what `open` will say more about. */
const firstBytes = (file: string): Buffer => attempt(() => readStart(file, 4), Buffer.alloc(0));

/**
 * The trace of a file. A snapshot is turned into one in a temporary folder, which goes with `release`, and at the latest with
 * this process. Rejects with one sentence, which names the file and nothing in that folder.
 */
export async function traceFile(addon: Pick<NativeAddon, 'importSnapshot'>, file: string): Promise<TraceFile> {
  if (!isSnapshot(file)) return { path: file, release: () => undefined };
  const folder = newFolder(join(tmpdir(), 'gpu-memtrace-snapshot-'));
  if (folders.size === 0) process.once('exit', removeAll);
  folders.add(folder);
  const release = (): void => remove(folder);
  try {
    const path = join(folder, 'snapshot.gputrace');
    await convert(addon, file, folder, path);
    return { path, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function convert(
  addon: Pick<NativeAddon, 'importSnapshot'>,
  file: string,
  folder: string,
  path: string,
): Promise<void> {
  const packing = packingOf(firstBytes(file));
  // By its own name, which the trace has as that of its program, and with its time, where the history has none.
  const own = packing === null ? file : join(folder, basename(file).replace(/\.(gz|zip)$/i, '') || 'snapshot');
  if (packing !== null) {
    setTimes(own, await unpack(file, packing, own));
  }
  try {
    await addon.importSnapshot(own, path);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(said.replaceAll(own, file).replaceAll(path, `${tmpdir()} (what ${file} is turned into)`), {
      cause: error,
    });
  } finally {
    if (packing !== null) removeFile(own);
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
