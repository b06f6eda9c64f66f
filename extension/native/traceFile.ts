// Files that can be shown: a saved trace as it is, a PyTorch memory snapshot as the trace that it is turned into.
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { newFolder, removeFile, removeFolder, setTimes } from '../files/files';
import { firstBytes, isSnapshot, packingOf, unpackerOf } from '../files/snapshotFile';
import type { NativeAddon } from './native';
import { unpack } from './packedFile';

/** What `NativeAddon.open` takes; `release` when nothing reads it any more. */
export interface TraceFile {
  path: string;
  release(): void;
}

const folders = new Set<string>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The trace of a file. A snapshot is turned into one in a temporary folder, which goes with `release`, and at the latest with
 * this process. Rejects with one sentence, which names the file and nothing in that folder.
 */
export async function traceFile(addon: Pick<NativeAddon, 'importSnapshot'>, file: string): Promise<TraceFile> {
  const unpacker = unpackerOf(firstBytes(file));
  if (unpacker !== null)
    throw new Error(`${file} has an unsupported compression format. Unpack it with ${unpacker}, and open the result.`);
  if (!isSnapshot(file)) return { path: file, release: () => undefined };
  const folder = temporaryFolder();
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
  let named = file;
  if (packing !== null) {
    const { about, member } = await unpack(file, packing, own);
    setTimes(own, about);
    if (member !== null) named = `${file} (${member} in it)`;
  }
  try {
    await addon.importSnapshot(own, path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const temporary = `${tmpdir()} (the unpacked ${file})`;
    // By functions: a `$` in a name is no pattern.
    throw new Error(
      message.replaceAll(own, () => named).replaceAll(path, () => temporary),
      { cause: error },
    );
  } finally {
    if (packing !== null) removeFile(own);
  }
}

/** A signal that comes once the folder is there removes it: a process that waits for that is there first. */
function temporaryFolder(): string {
  if (folders.size === 0) {
    process.once('exit', removeAll);
    for (const signal of SIGNALS) process.once(signal, endBySignal);
  }
  try {
    const folder = newFolder(join(tmpdir(), 'gpu-memtrace-snapshot-'));
    folders.add(folder);
    return folder;
  } catch (error) {
    endWatch();
    throw error;
  }
}

function remove(folder: string): void {
  removeFolder(folder);
  folders.delete(folder);
  endWatch();
}

/** Nothing is to be removed any more. */
function endWatch(): void {
  if (folders.size > 0) return;
  process.removeListener('exit', removeAll);
  for (const signal of SIGNALS) process.removeListener(signal, endBySignal);
}

/** Ends the process as the signal does by itself, unless it is handled elsewhere. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 0) return;
  removeAll();
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const folder of folders) remove(folder);
}
