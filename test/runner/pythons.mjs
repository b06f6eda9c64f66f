// Pythons that may have what a test needs: those that GMT_TORCH_PYTHON names, python3, those of pyenv.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Names or paths, to be tried in their order. */
export function pythons() {
  const named = (process.env.GMT_TORCH_PYTHON ?? '').split(':').filter(Boolean);
  const versions = join(homedir(), '.pyenv/versions');
  const known = existsSync(versions) ? readdirSync(versions).sort() : [];
  return [...named, 'python3', ...known.map(version => join(versions, version, 'bin/python3'))];
}

/** Puts the Python that `python3` stands for first on PATH: a version manager's stand-in starts a shell each time, twice the cost. */
export function findPythonOnce() {
  try {
    const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
    if (existsSync(join(dirname(python), 'python3'))) process.env.PATH = dirname(python) + delimiter + process.env.PATH;
  } catch {
    // None is here: what needs one says so.
  }
}
