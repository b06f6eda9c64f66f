import { giveTo, writeNamed } from '../../files/files';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { notify, write } from './output';

/** Writes a text to the file, whole or not at all; null: to stdout. False: it could not be written, which was printed. */
export function writeResult(chunks: Iterable<string>, file: string | null): boolean {
  if (file === null) {
    for (const chunk of chunks) if (!write(1, chunk)) break;
    return true;
  }
  try {
    writeNamed(file, chunks);
    giveToSudoUser(file);
    return true;
  } catch (error) {
    notify(`${file} cannot be written: ${reasonOf(error)}.`);
    return false;
  }
}

/** A file that sudo wrote belongs to the user behind sudo, so that the editor can open it. */
export function giveToSudoUser(file: string): void {
  const [uid, gid] = [Number(process.env.SUDO_UID), Number(process.env.SUDO_GID)];
  if (process.getuid?.() === 0 && uid > 0 && gid > 0) giveTo(file, uid, gid);
}
