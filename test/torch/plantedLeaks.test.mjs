// The planted leaks on a real PyTorch without a GPU.
import { testLeaks } from '../workloads/leakRuns.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const NEEDS_GPU = {
  'l22_graphs.py': 'CUDA graphs',
  'l27_pinned.py': 'pinned memory',
  'l28_sent.py': 'memory of another process',
};
const SMALL_GPU_BYTES = 1500 * 2 ** 20;

testLeaks({
  python: process.env.GMT_TORCH_PYTHON,
  env: expected => cpuVariables(expected.verdict === 'oom' ? SMALL_GPU_BYTES : 0),
  options: ['--simulate-gpu'],
  concurrency: 2,
  jobFile: onCpu,
  left: name => NEEDS_GPU[name] && `needs a GPU: ${NEEDS_GPU[name]}`,
});
