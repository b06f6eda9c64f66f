// Programs that come from the system's packages. As root on a Debian-like system they are installed; otherwise the
// caller gets the line to type.
import { run, which } from './root.mjs';

let listed = false;

/** null when every program is there (now); else one sentence with the line to type. */
export const ensurePrograms = (programs, packages) =>
  ensureFiles(() => programs.filter(program => !which(program)), packages);

/** As `ensurePrograms`; `missing` names what is not there (yet). */
export async function ensureFiles(missing, packages) {
  if (missing().length === 0) return null;
  // Another that installs something is waited for.
  const calm = ['-qq', '-o', 'DPkg::Lock::Timeout=300'];
  const line = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() === 0 && which('apt-get')) {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    if (!listed) await run('apt-get', ['update', ...calm], { env, quiet: true });
    listed = true;
    await run('apt-get', ['install', '-y', ...calm, '--no-install-recommends', ...packages], { env, quiet: true });
    if (missing().length === 0) return null;
  }
  return `${missing().join(', ')} is missing; type: sudo ${line}`;
}
