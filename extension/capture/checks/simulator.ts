import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { injectedLibrary, simulatorFolder } from '../launch/environment';

const LIBRARIES = ['libcuda.so.1', 'libcupti.so.13', 'allocator/libc10.so', 'allocator/libc10_cuda.so'];

/** One sentence when the simulated GPU is not whole, else null. */
export function simulatorProblem(dist: string): string | null {
  const folder = simulatorFolder(dist);
  const missing = LIBRARIES.filter(name => !existsSync(join(folder, name)));
  if (missing.length === 0) return null;
  return `The simulated GPU is not built: ${missing.join(', ')} missing in ${folder}; reinstall GPU Memory Trace, or build it with "npm run build".`;
}

/** One sentence when the library that is loaded into the program is missing, else null. */
export function injectionProblem(dist: string): string | null {
  const library = injectedLibrary(dist);
  return existsSync(library)
    ? null
    : `The tracer's library is missing: ${library}; reinstall GPU Memory Trace, or build it with "npm run build".`;
}
