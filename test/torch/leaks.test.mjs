// The planted leaks on a real PyTorch without a GPU: in each job "cuda" becomes "cpu", and its tensors are reported as a GPU's.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inRoot } from '../project/root.mjs';
import { testLeaks } from '../workloads/leakRuns.mjs';

const jobs = inRoot('build/test/torch/jobs');
const NEEDS_GPU = {
  'l22_graphs.py': 'CUDA graphs',
  'l27_pinned.py': 'pinned memory',
  'l28_sent.py': 'memory of another process',
};

/** The job as it runs here; every line stays where it is. */
function jobFile(file) {
  const text = readFileSync(file, 'utf8').replace(/^import torch$/m, 'import torch, as_gpu');
  const to = join(jobs, basename(file));
  mkdirSync(jobs, { recursive: true });
  writeFileSync(to, text.replaceAll('"cuda"', '"cpu"'));
  return to;
}

const env = {
  GPU_MEMTRACE_AGENT_DEVICES: 'all',
  PYTHONPATH: inRoot('test/torch'),
  OMP_NUM_THREADS: '1',
};
const SMALL_GPU_BYTES = String(1500 * 2 ** 20);

testLeaks({
  python: process.env.GMT_TORCH_PYTHON,
  env: expected => ({ ...env, GMT_AS_GPU_BYTES: expected.verdict === 'oom' ? SMALL_GPU_BYTES : '0' }),
  options: ['--simulate-gpu'],
  concurrency: 2,
  jobFile,
  left: name => NEEDS_GPU[name] && `needs a GPU: ${NEEDS_GPU[name]}`,
});
