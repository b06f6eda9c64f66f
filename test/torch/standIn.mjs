// A PyTorch without a GPU, and the stand-in that reports its tensors as a GPU's.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { pythons } from '../runner/pythons.mjs';
import { inRoot, run } from '../project/root.mjs';

const WHERE =
  'import os, torch; print(os.path.dirname(torch.__file__), int(torch._C._GLIBCXX_USE_CXX11_ABI), torch.__version__)';

/** What this Python has of PyTorch: { python, folder, abi, version }; undefined: it has none. */
export function torchOf(python) {
  try {
    const told = execFileSync(python, ['-c', WHERE], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, PYTHONPATH: '' },
    });
    const [folder, abi, version] = told.trim().split(' ');
    return { python, folder, abi, version };
  } catch {
    return undefined;
  }
}

/** The first Python that has PyTorch, as `torchOf` gives it; undefined: none has. */
export function findTorch() {
  for (const python of pythons()) {
    const torch = torchOf(python);
    if (torch) return torch;
  }
  return undefined;
}

/** Builds a library of test/torch against this PyTorch. Gives where it lies. */
async function build({ folder, abi, version }, source, name, links) {
  const to = inRoot('build/test/torch', name);
  mkdirSync(inRoot('build/test/torch'), { recursive: true });
  const [major, minor] = version.split('.').map(Number);
  const flags = [
    `-std=c++${major * 100 + minor >= 207 ? 20 : 17}`,
    ...['-O1', '-shared', '-fPIC', '-w', '-pthread', '-Wl,-z,lazy'],
    `-D_GLIBCXX_USE_CXX11_ABI=${abi}`,
    `-DGMT_TORCH=${major * 100 + minor}`,
  ];
  const words = [
    ...flags,
    `-I${folder}/include`,
    '-o',
    to,
    inRoot('test/torch', source),
    `-L${folder}/lib`,
    ...links.map(link => `-l${link}`),
  ];
  const { code, output } = await run(process.env.CXX ?? 'c++', words, { quiet: true });
  if (code !== 0) throw new Error(`${source} of test/torch cannot be built: ${output}`);
  return to;
}

/** The allocator, under the name by which the tracer knows the GPU's. */
export const buildAllocator = torch => build(torch, 'cpu_as_gpu.cpp', 'libc10_cuda.so', ['c10']);

/** What runs a backward pass on a thread without Python code. */
export const buildBackwardThread = torch =>
  build(torch, 'backward_thread.cpp', 'libbackward_thread.so', ['torch_cpu', 'c10']);

/** The variables of a program that imports that PyTorch and knows nothing of the stand-in, which has no limit. */
export async function standInVariables(torch) {
  return {
    GPU_MEMTRACE_AGENT_DEVICES: 'all',
    GMT_AS_GPU: await buildAllocator(torch),
    GMT_AS_GPU_BYTES: '0',
    OMP_NUM_THREADS: '1',
    PYTHONPATH: `${inRoot('test/torch/startup')}:${inRoot('test/torch')}`,
  };
}
