// A PyTorch without a GPU, and the stand-in that reports its tensors as a GPU's.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { pythons } from '../runner/pythons.mjs';
import { inRoot, run } from '../project/root.mjs';

const WHERE = 'import os, torch; print(os.path.dirname(torch.__file__), int(torch._C._GLIBCXX_USE_CXX11_ABI))';

/** The first Python that has PyTorch 2: { python, folder, abi }; undefined: none has. */
export function findTorch() {
  for (const python of pythons()) {
    try {
      const told = execFileSync(python, ['-c', WHERE], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      const [folder, abi] = told.trim().split(' ');
      return { python, folder, abi };
    } catch {
      // has none
    }
  }
  return undefined;
}

/** The allocator, under the name by which the tracer knows the GPU's. */
export async function buildAllocator({ folder, abi }) {
  const to = inRoot('build/test/torch/libc10_cuda.so');
  mkdirSync(inRoot('build/test/torch'), { recursive: true });
  const flags = ['-std=c++20', '-O1', '-shared', '-fPIC', '-w', '-Wl,-z,lazy', `-D_GLIBCXX_USE_CXX11_ABI=${abi}`];
  const words = [
    ...flags,
    `-I${folder}/include`,
    '-o',
    to,
    inRoot('test/torch/cpu_as_gpu.cpp'),
    `-L${folder}/lib`,
    '-lc10',
  ];
  const { code, output } = await run(process.env.CXX ?? 'c++', words, { quiet: true });
  if (code !== 0) throw new Error(`The allocator of test/torch cannot be built: ${output}`);
  return to;
}

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
