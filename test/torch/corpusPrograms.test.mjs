// Programs that were written without sight of the rules, on a real PyTorch without a GPU.
import { execFileSync } from 'node:child_process';
import { testLeaks } from '../workloads/leakRuns.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const python = process.env.GMT_TORCH_PYTHON;
const HAS =
  'import importlib.util, sys; print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])';
const known = new Map();

/** The first of these packages that this Python lacks; '': it has all. */
function lacks(packages) {
  const missing = packages.filter(name => {
    if (!known.has(name)) known.set(name, execFileSync(python, ['-c', HAS, name], { encoding: 'utf8' }).trim() !== '');
    return known.get(name);
  });
  return missing[0] ?? '';
}

testLeaks({
  folder: 'corpus',
  python,
  holderTime: 'onFirstLeak',
  env: () => ({ ...cpuVariables(), HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' }),
  options: ['--simulate-gpu'],
  concurrency: 2,
  jobFile: onCpu,
  left: (name, { libraries = [], gpuOnly = false }) => {
    if (gpuOnly) return 'storages that are deep-copied go past the stand-in';
    return lacks(libraries) === '' ? false : `needs ${lacks(libraries)}`;
  },
});
