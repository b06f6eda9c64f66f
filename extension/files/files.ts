// Files at paths that other people can have made. README.md
import {
  appendFileSync,
  closeSync,
  constants,
  cpSync,
  createWriteStream,
  fchownSync,
  fstatSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  watch,
  writeFileSync,
  type Stats,
  type WriteStream,
} from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt } from '../base/attempt';

export type { FileHandle, Stats };

type Chunk = string | Uint8Array;
interface NewFile {
  mode?: number | undefined;
  /** The time of its last change, in milliseconds. */
  changedMs?: number;
  /** Its folder is one that is recorded into, perhaps another user's, to whom the file then belongs. */
  ofTrace?: boolean;
}

/** Larger texts are none of ours. */
const MOST_BYTES = 16 << 20;
const OTHERS_WRITE = 0o022;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;

/** The bytes of a regular file, through links too where the user named it. Throws. */
export function readBytes(file: string, most = MOST_BYTES): Buffer {
  return withRegular(file, O_RDONLY, (opened, { size }) => {
    if (size > most) throw new Error(`it is larger than ${most >> 20} MiB`);
    return readFileSync(opened);
  });
}

/** Empty where there is no such file, or it may not be read. */
export function readText(file: string): string {
  return attempt(() => readBytes(file).toString('utf8'), '');
}

/** Of a file that stands in a folder that others may have made: a link leads nowhere. */
export function readTextIn(folder: string, name: string): string {
  const read = (opened: number, { size }: Stats): string =>
    size > MOST_BYTES ? '' : readFileSync(opened).toString('utf8');
  return attempt(() => withRegular(join(folder, name), O_RDONLY | O_NOFOLLOW, read), '');
}

/** The first bytes, as many as there are of `most`. Throws. */
export function readStart(file: string, most: number): Buffer {
  return withRegular(file, O_RDONLY, opened => {
    const buffer = Buffer.alloc(most);
    return buffer.subarray(0, readSync(opened, buffer, 0, most, 0));
  });
}

/** A regular file, to be read in pieces; the caller that opens it closes it. Rejects. */
export async function openToRead(file: string): Promise<{ handle: FileHandle; about: Stats }> {
  const handle = await open(file, O_RDONLY | O_NONBLOCK);
  const about = await handle.stat();
  if (about.isFile()) return { handle, about };
  await handle.close();
  throw new Error('it is not a regular file');
}

/** Writes a new file for this user alone. */
export const newFileStream = (file: string): WriteStream => createWriteStream(file, { flags: 'wx', mode: 0o600 });

export const setTimes = (file: string, { atime, mtime }: Pick<Stats, 'atime' | 'mtime'>): void =>
  utimesSync(file, atime, mtime);

/** A file of /proc. Rejects. */
export const readSystemFile = (file: string): Promise<string> => readFile(file, 'utf8');

/** Calls `changed` whenever a file changes, until what is returned is called; `failed` where the system watches it no more. */
export function watchFile(file: string, changed: () => void, failed: () => void): () => void {
  try {
    const watcher = watch(file, changed).on('error', failed);
    return () => watcher.close();
  } catch {
    failed();
    return () => undefined;
  }
}

/** Whether it is a folder of this user, no link, that no other user may write to. */
export function ownFolder(path: string): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts?.isDirectory()) return false;
  return process.getuid === undefined || (facts.uid === process.getuid() && (facts.mode & OTHERS_WRITE) === 0);
}

/** Writes a file so that readers see the old one or the new one, or none. Throws. */
export function writeWhole(file: string, chunks: Iterable<Chunk>, about: NewFile = {}): void {
  const draft = new Draft(file, about);
  try {
    for (const chunk of chunks) draft.write(chunk);
    draft.keep();
  } finally {
    draft.drop();
  }
}

/** The same to a file that the user named: a terminal, a pipe or a device, /dev/stdout among them, is written into as it is. Throws. */
export function writeNamed(file: string, chunks: Iterable<Chunk>, about: NewFile = {}): void {
  if (!isStream(file)) return writeWhole(file, chunks, about);
  const opened = openSync(file, 'w');
  try {
    for (const chunk of chunks) writeFileSync(opened, chunk);
  } finally {
    closeSync(opened);
  }
}

/** Rejects as what it reads, too. */
export async function writeNamedFrom(file: string, chunks: AsyncIterable<Chunk>): Promise<void> {
  if (!isStream(file)) return writeWholeFrom(file, chunks);
  const opened = openSync(file, 'w');
  try {
    for await (const chunk of chunks) writeFileSync(opened, chunk);
  } finally {
    closeSync(opened);
  }
}

/** When it was changed last, in milliseconds; 0: it is not there, or a link that leads nowhere. */
export const changedMs = (path: string): number => attempt(() => statSync(path).mtimeMs, 0);

/** What stands for an open file of this process, or is no place on a disk. */
function isStream(file: string): boolean {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts === undefined || facts.isDirectory()) return false;
  return !facts.isFile() || /^\/(dev|proc)\//.test(resolve(file));
}

/** Rejects as what it reads, too. */
export async function writeWholeFrom(file: string, chunks: AsyncIterable<Chunk>): Promise<void> {
  const draft = new Draft(file, {});
  try {
    for await (const chunk of chunks) draft.write(chunk);
    draft.keep();
  } finally {
    draft.drop();
  }
}

/** Puts a file for this user alone into a folder, whole, by the first of the names that is free; gives its number in them. Throws. */
export function addFile(
  folder: string,
  first: number,
  name: (at: number) => string,
  text: (at: number) => string,
  about: NewFile = {},
): number {
  for (let at = first; ; at++) {
    const draft = new Draft(join(folder, name(at)), { mode: 0o600, ...about });
    try {
      draft.write(text(at));
      draft.link();
      return at;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      draft.drop();
    }
  }
}

/** Writes over what has its place on the disk already. Throws. */
export function overwrite(file: string, text: string): void {
  withRegular(file, O_WRONLY | O_NOFOLLOW, (opened, { nlink }) => {
    if (nlink > 1) throw new Error('it has several names (hard links)');
    writeFileSync(opened, text);
  });
}

/** Adds to a file that the user named, which may be a terminal. Throws. */
export function append(file: string, text: string): void {
  appendFileSync(file, text);
}

/** For what a program prints: the user named the file. Throws. */
export function openNamed(file: string, flags: 'r' | 'w'): number {
  return openSync(file, flags);
}

/** Gives a file to another user; nothing happens where it is a link, or on a file system without owners. */
export function giveTo(file: string, uid: number, gid: number): void {
  attempt(() => withRegular(file, O_RDONLY | O_NOFOLLOW, opened => fchownSync(opened, uid, gid)), undefined);
}

/**
 * Makes a folder, a private one unless `mode` is given, and those above it. Not `recursive: true`: below a folder that cannot hold folders, such as
 * /proc, Node 20 then never returns.
 */
export function makeFolder(path: string, mode = 0o700): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The folder below `above`, which is made; each part of `below` is a folder, not a link that leads out of it. Throws. */
export function makeFolderIn(above: string, ...below: string[]): string {
  let path = resolve(above);
  makeFolder(path);
  for (const name of below) {
    path = join(path, name);
    makeFolder(path);
    if (!lstatSync(path).isDirectory()) throw new Error(`${path} is a link`);
  }
  return path;
}

/** A new private folder whose name begins so. Throws. */
export const newFolder = (begin: string): string => mkdtempSync(begin);

export const copyFolder = (from: string, to: string): void => cpSync(from, to, { recursive: true });
export const removeFile = (file: string): void => rmSync(file, { force: true });
export const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true });
/** Throws. */
export const rename = (from: string, to: string): void => renameSync(from, to);

/** A file that has no public name yet, in a folder that stays the same whatever becomes of its path. */
class Draft {
  private readonly folder: number;
  private readonly file: number;
  private readonly path: string;
  private readonly target: string;

  constructor(
    target: string,
    private readonly about: NewFile,
  ) {
    const path = dirname(resolve(target));
    this.folder = openSync(path, O_RDONLY | O_DIRECTORY | (about.ofTrace ? O_NOFOLLOW : 0));
    const within = process.platform === 'linux' ? `/proc/self/fd/${this.folder}` : path;
    this.target = join(within, basename(target));
    this.path = join(within, `.${basename(target).slice(0, 60)}.${crypto.randomUUID()}`);
    try {
      const there = lstatSync(this.target, { throwIfNoEntry: false });
      if (there && !there.isFile() && !there.isSymbolicLink()) throw new Error('it is not a regular file');
      this.file = openSync(this.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, about.mode ?? 0o666);
    } catch (error) {
      closeSync(this.folder);
      throw error;
    }
  }

  write(chunk: Chunk): void {
    writeFileSync(this.file, chunk);
  }

  /** It takes the place of what has its name. */
  keep(): void {
    this.finish();
    renameSync(this.path, this.target);
  }

  /** It gets its name; throws EEXIST where something has that. */
  link(): void {
    this.finish();
    linkSync(this.path, this.target);
  }

  /** What has no name is gone. */
  drop(): void {
    closeSync(this.file);
    rmSync(this.path, { force: true });
    closeSync(this.folder);
  }

  private finish(): void {
    const { changedMs, ofTrace } = this.about;
    if (changedMs !== undefined) futimesSync(this.file, changedMs / 1000, changedMs / 1000);
    if (!ofTrace || process.getuid?.() !== 0) return;
    const { uid, gid } = fstatSync(this.folder);
    fchownSync(this.file, uid, gid);
  }
}

/** Not a FIFO or a device: to open or read one may wait for ever, or do something. */
function withRegular<T>(file: string, flags: number, use: (opened: number, facts: Stats) => T): T {
  const opened = openSync(file, flags | O_NONBLOCK);
  try {
    const facts = fstatSync(opened);
    if (!facts.isFile()) throw new Error(facts.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    return use(opened, facts);
  } finally {
    closeSync(opened);
  }
}
