import { join } from 'node:path';
import type { Environment } from '../processes/machine';

export interface TraceEnvironment {
  /** Folder of the built files (`dist`). */
  dist: string;
  traceDirectory: string;
  /** Fallback libcupti; the injected library checks what the process maps first. */
  cupti: string | null;
  /** Size limit of one process's log. */
  budgetBytes: number | null;
  /** Nothing is done for each autograd node. */
  lean: boolean;
  /** A process that counts its training steps gets a Ctrl+C after so many; null: never. */
  maxSteps: number | null;
}

export function injectedLibrary(dist: string): string {
  return join(dist, 'native', 'libgpumemtrace.so');
}
/** A checkout of the repository has the simulated GPU, beside what ships. */
export function simulatorFolder(dist: string): string {
  return join(dist, '..', 'build', 'simulator');
}

/**
 * The variables that a traced process gets beside `base`. What is set already is chained: preloaded libraries stay
 * behind ours, and another injection library moves to GPU_MEMTRACE_CHAIN. NVTX has one tool: another one keeps it.
 */
export function traceVariables(base: Environment, trace: TraceEnvironment): Record<string, string> {
  const library = injectedLibrary(trace.dist);
  const variables: Record<string, string> = {
    GPU_MEMTRACE_DIR: trace.traceDirectory,
    LD_PRELOAD: prepend(library, base.LD_PRELOAD, /[:\s]+/),
    CUDA_INJECTION64_PATH: library,
  };
  const injected = base.CUDA_INJECTION64_PATH;
  if (injected !== undefined && injected !== '' && injected !== library) variables.GPU_MEMTRACE_CHAIN = injected;
  if (!base.NVTX_INJECTION64_PATH) variables.NVTX_INJECTION64_PATH = library;
  if (trace.budgetBytes !== null) variables.GPU_MEMTRACE_BUDGET = String(Math.floor(trace.budgetBytes));
  if (trace.maxSteps !== null) variables.GPU_MEMTRACE_MAX_STEPS = String(trace.maxSteps);
  if (trace.lean) variables.GPU_MEMTRACE_LEAN = '1';
  if (trace.cupti !== null) variables.GPU_MEMTRACE_CUPTI = trace.cupti;
  return variables;
}

/** The variables of a process that finds the simulated GPU's libraries first. */
export function simulatorVariables(base: Environment, dist: string): Record<string, string> {
  const simulator = simulatorFolder(dist);
  return {
    LD_LIBRARY_PATH: prepend(simulator, base.LD_LIBRARY_PATH, /:/),
    GPU_MEMTRACE_CUPTI: join(simulator, 'libcupti.so.13'),
    GPU_MEMTRACE_SIMULATOR: simulator, // where a program finds the simulated allocator
  };
}

function prepend(first: string, existing: string | undefined, separator: RegExp): string {
  const others = (existing ?? '').split(separator).filter(entry => entry !== '' && entry !== first);
  return [first, ...others].join(':');
}
