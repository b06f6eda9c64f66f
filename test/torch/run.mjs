// What runs on a real PyTorch, with tensors in main memory in the place of a GPU's: node test/torch/run.mjs
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runNodeTests } from '../runner/nodeTests.mjs';
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
async function buildAllocator({ folder, abi }) {
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

/** {passed, failed, skipped, notes} */
export async function runTorchTests() {
  const torch = findTorch();
  if (!torch) return { skipped: ['planted leaks on PyTorch: no Python here has it; GMT_TORCH_PYTHON may name one'] };
  process.env.GMT_TORCH_PYTHON = torch.python;
  process.env.GMT_AS_GPU = await buildAllocator(torch);
  return runNodeTests('torch', [inRoot('test/torch/leaks.test.mjs')], 1, 1200);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { passed = 0, failed = 0, skipped } = await runTorchTests();
  console.log([`${passed} passed, ${failed} failed`, ...skipped].join(', skipped: '));
  process.exit(failed > 0 ? 1 : 0);
}
