import { isAbsolute, join } from 'node:path';

/** Path of a file of the trace. */
export function sourcePath(file: string, cwd: string): string {
  return isAbsolute(file) ? file : join(cwd, file);
}
