import { chownSync, renameSync, writeFileSync } from 'node:fs';
import { reasonOf } from '../capture/traces/traceDirectory';
import { print, say } from './output';

/** Writes a text to the file, whole or not at all; null: to stdout. False: it could not be written, and that was said. */
export function writeResult(text: string, file: string | null): boolean {
  if (file === null) {
    print(text);
    return true;
  }
  try {
    writeFileSync(`${file}.part`, text.endsWith('\n') ? text : `${text}\n`);
    giveToSudoUser(`${file}.part`);
    renameSync(`${file}.part`, file);
    return true;
  } catch (error) {
    say(`${file} cannot be written: ${reasonOf(error)}.`);
    return false;
  }
}

/** A file that was asked for under sudo belongs to who asked, so that the editor can open it. */
export function giveToSudoUser(file: string): void {
  const [uid, gid] = [Number(process.env.SUDO_UID), Number(process.env.SUDO_GID)];
  if (process.getuid?.() !== 0 || !(uid > 0 && gid > 0)) return;
  try {
    chownSync(file, uid, gid);
  } catch {
    // A file system without owners: the file is there all the same.
  }
}
