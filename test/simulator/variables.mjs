// The variables of programs that find the simulated GPU as they would find a real one.
import { join } from 'node:path';
import { inRoot } from '../project/root.mjs';

/** The checkout whose `build` and `dist` are tested: this one, or that of another processor. */
export const built = process.env.GMT_BUILT_ROOT ?? inRoot();
export const simulator = join(built, 'build/simulator');
export const simulated = {
  LD_LIBRARY_PATH: simulator,
  GPU_MEMTRACE_CUPTI: `${simulator}/libcupti.so.13`,
  GPU_MEMTRACE_SIMULATOR: simulator,
};
