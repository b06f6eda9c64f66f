// What another person may put in the place of a file that we open.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Every name in a trace directory that something opens, or once did. */
export const NAMES = [
  'session.json',
  'control',
  'recorder',
  'pid',
  'status',
  'copies',
  'at-end',
  'at-exit.json',
  'marks',
  'unfinished',
  'session.json.part',
  'request-1.json',
  '1-1.gmtlog',
  '00000000000000000001.gmtcheck',
  'name\n\x1b[2J.gmtlog',
] as const;

const run = (...words: [string, ...string[]]): void => {
  const { status, stderr } = spawnSync(words[0], words.slice(1), { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};

/** Puts one at a path; `victim`: a file that is not theirs. */
export const KINDS: Record<string, (path: string, victim: string) => void> = {
  fifo: path => run('mkfifo', path),
  link: (path, victim) => symlinkSync(victim, path),
  'link to nothing': (path, victim) => symlinkSync(`${victim}-new`, path),
  'link to itself': path => symlinkSync(path, path),
  'hard link': (path, victim) => linkSync(victim, path),
  device: path => run('mknod', path, 'c', '1', '5'),
  folder: path => mkdirSync(path),
  sparse: path => {
    writeFileSync(path, '');
    truncateSync(path, 1 << 30);
  },
  'path in it': (path, victim) => writeFileSync(path, victim),
};

/** Puts a file of a kind at a path, in the place of what is there. */
export function plant(kind: string, path: string, victim: string): void {
  rmSync(path, { recursive: true, force: true });
  KINDS[kind]?.(path, victim);
}

/** A file that nothing may change, nor make one beside it. */
export class Victim {
  readonly file: string;
  private static readonly text = 'ssh-ed25519 AAAA\n';

  constructor(folder: string) {
    mkdirSync(folder);
    this.file = join(folder, 'authorized_keys');
    writeFileSync(this.file, Victim.text);
    chmodSync(this.file, 0o600);
  }

  /** What is wrong with it now; null: nothing. */
  changed(): string | null {
    if (readFileSync(this.file, 'utf8') !== Victim.text) return 'its text is another';
    if (lstatSync(`${this.file}-new`, { throwIfNoEntry: false })) return 'a file was made beside it';
    return lstatSync(this.file).isFile() ? null : 'it is no file any more';
  }
}
