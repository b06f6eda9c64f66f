import { writeSync } from 'node:fs';

const dead = new Set<number>();

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
        pause(5);
        continue;
      }
      dead.add(descriptor);
      return false;
    }
  }
  return true;
}

export function print(text: string): void {
  write(1, text.endsWith('\n') ? text : `${text}\n`);
}

/** A sentence of ours on stderr. */
export function say(sentence: string): void {
  write(2, `gpu-memtrace: ${sentence}\n`);
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
