// Python as the reader of what was exported.
import { spawnSync } from 'node:child_process';
import { pythons } from '../../runner/pythons.mjs';

/** The first Python that has the modules; null: none here. */
export function pythonWith(...modules: string[]): string | null {
  const code = `import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in ${JSON.stringify(modules)}))`;
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
