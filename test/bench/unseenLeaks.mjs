// `node --test test/bench/unseenLeaks.mjs`, on a GPU: 180 more programs that were written without sight of the rules, three times 60,
// each judged once before the rules that it led to (RESULTS.md). Those that write a memory snapshot are judged by that alone, not here.
import { testLeaks } from '../workloads/leakRuns.mjs';
import { python } from '../gpu/traced.mjs';

testLeaks({
  folder: 'unseen',
  python,
  holderTime: 'onFirstLeak',
  concurrency: Number(process.env.GPU_MEMTRACE_AT_ONCE ?? 12),
  env: () => ({ OMP_NUM_THREADS: '1' }),
  left: (_name, { snapshot }) => (snapshot ? 'writes its own snapshot' : false),
});
