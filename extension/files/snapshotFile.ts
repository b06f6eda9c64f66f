import { extname } from 'node:path';
import { attempt } from '../base/attempt';
import { readStart } from './files';

/** The first byte of a pickle of protocol 2 and later. */
const PICKLE = 0x80;
const EXTENSIONS: ReadonlySet<string> = new Set(['.pickle', '.pkl', '.gz', '.zip']);

/** Whether a file is to be read as a memory snapshot, which may be packed: by its name, else by its first bytes. */
export function isSnapshot(file: string): boolean {
  if (EXTENSIONS.has(extname(file).toLowerCase())) return true;
  const first = firstBytes(file);
  return first[0] === PICKLE || packingOf(first) !== null;
}

/** Nothing of a folder, or of what cannot be read. */
export const firstBytes = (file: string): Buffer => attempt(() => readStart(file, 4), Buffer.alloc(0));

/** First bytes of what nothing here unpacks, with the program that does. */
const FOREIGN_PACKINGS = [
  ['unxz', [0xfd, 0x37, 0x7a]],
  ['unzstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['bunzip2', [0x42, 0x5a, 0x68]],
] as const;

/** The program that unpacks a file with these first bytes, where that is not done here; null: it is. */
export const unpackerOf = (first: Buffer): string | null =>
  FOREIGN_PACKINGS.find(([, bytes]) => bytes.every((byte, i) => first[i] === byte))?.[0] ?? null;

/** How a file is packed, by its first bytes. */
export function packingOf(first: Buffer): 'gzip' | 'zip' | null {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  return first[0] === 0x50 && first[1] === 0x4b ? 'zip' : null;
}
