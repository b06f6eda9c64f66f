// Runs `npm ci` when node_modules is missing or is not what package-lock.json says.
import { existsSync, readFileSync } from 'node:fs';
import { inRoot, must } from './root.mjs';

/** One sentence why the packages must be installed again, or null. */
export function staleReason() {
  const installed = inRoot('node_modules/.package-lock.json');
  if (!existsSync(installed)) return 'node_modules is missing';
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8')).packages;
  for (const [path, { version, integrity, optional }] of Object.entries(locked)) {
    if (path === '' || (optional && !have[path])) continue; // npm leaves out what another platform needs
    if (have[path]?.version !== version || (integrity && have[path].integrity && have[path].integrity !== integrity))
      return `${path} is not what package-lock.json says`;
  }
  return null;
}

export async function install() {
  const reason = staleReason();
  if (!reason) return 'packages are up to date';
  await must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  return `npm ci, because ${reason}`;
}
