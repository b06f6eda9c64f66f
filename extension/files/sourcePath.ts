import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { SourceFolders } from '../protocol/cwd';

/** Path of a file of the trace: as it was recorded; where it is not there, beside the saved trace by its name from the working folder. */
export function sourcePath(file: string, { cwd, beside }: SourceFolders): string {
  const path = isAbsolute(file) ? file : join(cwd, file);
  const name = relative(cwd, path);
  if (beside === null || name.startsWith('..') || existsSync(path)) return path;
  const brought = join(beside, name);
  return existsSync(brought) ? brought : path;
}
