import { writeSync } from 'node:fs';

const dead = new Set<number>();

/**
 * Writes to stdout or stderr. Goes past Node's streams, which would switch the pipe that the traced program shares to
 * non-blocking. A reader that went away is not an error: what is left is dropped.
 */
export function write(descriptor: 1 | 2, text: string): void {
  if (dead.has(descriptor)) return;
  const bytes = Buffer.from(text, 'utf8');
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        pause(5);
        continue;
      }
      dead.add(descriptor);
      return;
    }
  }
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
