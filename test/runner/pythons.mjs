// Pythons that may have what a test needs: those that GMT_TORCH_PYTHON names, python3, those of pyenv.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Names or paths, to be tried in their order. */
export function pythons() {
  const named = (process.env.GMT_TORCH_PYTHON ?? '').split(':').filter(Boolean);
  const versions = join(homedir(), '.pyenv/versions');
  const known = existsSync(versions) ? readdirSync(versions).sort() : [];
  return [...named, 'python3', ...known.map(version => join(versions, version, 'bin/python3'))];
}
