import { dirname, join, resolve } from 'node:path';
import { readText } from '../../files/files';

/** Branch and commit of the Git repository that a folder is in, read from its files; empty: it is in none, or on no branch. */
export function gitHead(folder: string): { branch: string; commit: string } {
  for (let at = folder; ; at = dirname(at)) {
    const entry = join(at, '.git');
    const linked = /^gitdir: (.+)$/m.exec(readText(entry))?.[1];
    const own = linked === undefined ? entry : resolve(at, linked);
    const head = readText(join(own, 'HEAD')).trim();
    if (head !== '') return named(own, head);
    if (dirname(at) === at) return { branch: '', commit: '' };
  }
}

function named(own: string, head: string): { branch: string; commit: string } {
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return { branch: '', commit: head };
  const common = readText(join(own, 'commondir')).trim();
  const root = resolve(own, common);
  const packed = readText(join(root, 'packed-refs'))
    .split('\n')
    .find(line => line.endsWith(` ${ref}`));
  const commit = readText(join(root, ref)).trim() || (packed?.split(' ')[0] ?? '');
  return { branch: ref.replace(/^refs\/heads\//, ''), commit };
}
