// A trace that begins in a terminal of a VS Code window is announced to that window: by a file in a folder that its terminals name.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../base/attempt';
import { ownFolder, readTextIn, removeFile, writeWhole } from '../../files/files';

/** The variable of the window's terminals that names the folder. */
export const WINDOW_FOLDER = 'GPU_MEMTRACE_WINDOW';

/** A trace directory, the process ID of the command that records it, and the file that the trace was saved as; null: not yet. */
export type Announced = [directory: string, pid: number, file: string | null];

/** Lets the window know of it. Nothing happens in other terminals. */
export function announce(directory: string, file: string | null, folder = process.env[WINDOW_FOLDER]): void {
  if (folder === undefined || !ownFolder(folder)) return;
  const announced: Announced = [directory, process.pid, file];
  const name = join(folder, `${basename(directory)}${file === null ? '' : '.saved'}`);
  attempt(() => writeWhole(name, [JSON.stringify(announced)], { mode: 0o600 }), undefined);
}

/** What was announced in the folder, each once. */
export function takeAnnounced(folder: string): Announced[] {
  const names = attempt(() => readdirSync(folder), []).filter(name => /^trace-\w+(\.saved)?$/.test(name));
  return names.sort().flatMap(name => {
    const text = readTextIn(folder, name);
    removeFile(join(folder, name));
    const found: unknown = attempt(() => JSON.parse(text) as unknown, null);
    return isAnnounced(found) ? [found] : [];
  });
}

function isAnnounced(found: unknown): found is Announced {
  if (!Array.isArray(found)) return false;
  const [directory, pid, file] = found as unknown[];
  return typeof directory === 'string' && Number.isInteger(pid) && (file === null || typeof file === 'string');
}
