// Jobs that were written for a GPU, on a real PyTorch without one: "cuda" becomes "cpu", and their tensors are reported as a GPU's.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inRoot } from '../project/root.mjs';

const jobs = inRoot('build/test/torch/jobs');

/** The job as it runs here; every line stays where it is. */
export function onCpu(file) {
  const text = readFileSync(file, 'utf8').replace(/^import torch$/m, 'import torch, as_gpu');
  const to = join(jobs, basename(file));
  mkdirSync(jobs, { recursive: true });
  writeFileSync(to, text.replaceAll('"cuda"', '"cpu"'));
  return to;
}

/** The variables of such a job on a GPU of so many bytes; 0: there is no limit. */
export function cpuVariables(bytes = 0) {
  return {
    GPU_MEMTRACE_AGENT_DEVICES: 'all',
    GMT_AS_GPU_BYTES: String(bytes),
    PYTHONPATH: inRoot('test/torch'),
    OMP_NUM_THREADS: '1',
  };
}
