// Python as the reader of what was exported.
import { spawnSync } from 'node:child_process';
import { pythons } from '../../runner/pythons.mjs';

/** The first Python that has the module; null: none here. */
export function pythonWith(module: string): string | null {
  const code = `import importlib.util, sys; sys.exit(importlib.util.find_spec(${JSON.stringify(module)}) is None)`;
  return pythons().find(name => spawnSync(name, ['-c', code]).status === 0) ?? null;
}

/** Runs code that reads `sys.argv[1]` and prints JSON. */
export function askPython<T>(python: string, code: string, ...words: string[]): T {
  const { status, stdout, stderr } = spawnSync(python, ['-c', code, ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}
