// What runs on a real PyTorch, with tensors in main memory in the place of a GPU's.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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

/** One of each kind, for every run of the tests: what holds the leak, and what looks like a leak and is none. */
const CHOSEN = [
  'l01_loss_list', // a list
  'l05_exception', // frames of an exception
  'l09_thread', // another thread's list
  'l10_cycle_per_step', // a cycle, until it is collected
  'l30_lru_cache', // a cache's own memory
  'l62_graph_nodes', // nodes of the autograd graph
  'l65_main', // locals of a function that has returned at the end
  'n01_adam_warmup', // the optimizer's state
  'n06_collector_sawtooth', // what the collector frees in time
  'n10_prefetch', // what a thread holds for a moment
  'n17_fragments', // a pool that is not full
];

/** Jobs whose names begin with one of `wanted`; none wanted: the chosen ones; not given: all. {passed, failed, skipped, notes} */
export async function runTorchTests(wanted) {
  const torch = findTorch();
  if (!torch) return { skipped: ['planted leaks on PyTorch: no Python here has it; GMT_TORCH_PYTHON may name one'] };
  const env = { GMT_TORCH_PYTHON: torch.python, GMT_AS_GPU: await buildAllocator(torch) };
  const names = wanted?.length === 0 ? CHOSEN : wanted;
  return runNodeTests('torch', [inRoot('test/torch/leaks.test.mjs')], { mostSeconds: 1200, names, env });
}
