import { writeSync } from 'node:fs';
import { isatty, WriteStream } from 'node:tty';
import { textOf } from '../../text/escapeForTerminal';

/** Until a full pipe is tried again. */
const PAUSE_MS = 5;
const dead = new Set<number>();
let held: string[] | null = null;

/**
 * Writes to stdout or stderr. Goes past Node's streams, which would switch the pipe that the traced program shares to
 * non-blocking. A reader that went away is not an error: what is left is dropped, and false returned.
 */
export function write(descriptor: 1 | 2, data: string | Uint8Array): boolean {
  if (dead.has(descriptor)) return false;
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
        continue;
      }
      dead.add(descriptor);
      return false;
    }
  }
  return true;
}

/** Lines for people on stdout, or on stderr; whatever names stand in them, a terminal obeys none. */
export function print(lines: readonly string[], descriptor: 1 | 2 = 1): void {
  write(descriptor, textOf(lines));
}

/** A sentence of ours on stderr. */
export function notify(sentence: string): void {
  if (held === null) print([`gpu-memtrace: ${sentence}`], 2);
  else held.push(sentence);
}

/** Keeps sentences back while something else is on the screen; the returned function prints them. */
export function holdSentences(): () => void {
  held = [];
  return () => {
    const kept = held ?? [];
    held = null;
    kept.forEach(notify);
  };
}

/** Rows and columns of the terminal there, as they are now; null: it is none, or has no size. */
export function terminalSize(descriptor: 1 | 2): { rows: number; columns: number } | null {
  if (!isatty(descriptor)) return null;
  const terminal = new WriteStream(descriptor);
  const { rows, columns } = terminal;
  terminal.destroy();
  return rows > 0 && columns > 0 ? { rows, columns } : null;
}

/** Prints why something is not done; gives the exit status for it. */
export function refuse(sentence: string, status: number): number {
  notify(sentence);
  return status;
}
