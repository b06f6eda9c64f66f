// Jobs that were written for a GPU, on a real PyTorch without one: "cuda" becomes "cpu", and their tensors are reported as a GPU's.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inRoot } from '../project/root.mjs';
import { runJob } from '../workloads/tracedJob.mjs';

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

/** A program of this text, traced for the test `t`: its report, and what the command prints of its trace. */
export async function traceText(t, name, text) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-text-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [file, trace] = [join(folder, `${name}.py`), join(folder, `${name}.gputrace`)];
  writeFileSync(file, text);
  const how = { python: process.env.GMT_TORCH_PYTHON, env: cpuVariables() };
  const { report } = await runJob(onCpu(file), { ...how, options: ['--simulate-gpu', '-o', trace] });
  const { stdout } = spawnSync(process.execPath, [inRoot('dist/cli.js'), 'report', trace], { encoding: 'utf8' });
  return { report, stdout };
}
