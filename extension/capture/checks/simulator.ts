import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { injectedLibrary, simulatorFolder } from '../launch/environment';

/** One sentence where there is no simulated GPU, else null. */
export function simulatorProblem(dist: string): string | null {
  if (existsSync(join(simulatorFolder(dist), 'libcuda.so.1'))) return null;
  return '--simulate-gpu works only from a checkout of the repository, where "npm run build" makes the simulated GPU.';
}

/** One sentence when the library that is loaded into the program is missing, else null. */
export function injectionProblem(dist: string): string | null {
  const library = injectedLibrary(dist);
  return existsSync(library)
    ? null
    : `The tracer's library is missing: ${library}; reinstall GPU Memory Trace, or build it with "npm run build".`;
}
