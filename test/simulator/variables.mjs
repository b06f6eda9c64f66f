// The variables of programs that find the simulated GPU as they would find a real one.
import { inRoot } from '../project/root.mjs';

export const simulator = inRoot('build/simulator');
export const simulated = {
  LD_LIBRARY_PATH: simulator,
  GPU_MEMTRACE_CUPTI: `${simulator}/libcupti.so.13`,
  GPU_MEMTRACE_SIMULATOR: simulator,
};
