// A trace that begins in a terminal of a VS Code window is announced to that window: by a file in a folder that its terminals name.
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attempt } from '../../base/attempt';
import { ownFolder, readTextIn, removeFile, writeWhole } from '../../files/files';

/** The variable of the window's terminals that names the folder. */
export const WINDOW_FOLDER = 'GPU_MEMTRACE_WINDOW';
const NAME = /^trace-\w+(\.saved)?$/;

/** A trace directory that is recorded into; `file`: what it was saved as, null while it goes on. */
export interface Announced {
  directory: string;
  file: string | null;
}

/** Lets the window know of it. Nothing happens in other terminals. */
export function announce({ directory, file }: Announced, folder = process.env[WINDOW_FOLDER]): void {
  if (folder === undefined || !ownFolder(folder)) return;
  const name = `${basename(directory)}${file === null ? '' : '.saved'}`;
  attempt(() => writeWhole(join(folder, name), [JSON.stringify([directory, file])], { mode: 0o600 }), undefined);
}

/** What was announced in the folder, each once. */
export function takeAnnounced(folder: string): Announced[] {
  const names = attempt(() => readdirSync(folder), []).filter(name => NAME.test(name));
  return names.sort().flatMap(name => {
    const [directory, file] = attempt(() => JSON.parse(readTextIn(folder, name)) as unknown[], []);
    removeFile(join(folder, name));
    return typeof directory === 'string' ? [{ directory, file: typeof file === 'string' ? file : null }] : [];
  });
}
