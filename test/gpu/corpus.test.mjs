// Programs that were written without sight of the rules, on a real GPU; GPU_MEMTRACE_AT_ONCE says how many at a time (else 12).
import { testLeaks } from '../workloads/leakRuns.mjs';
import { python } from './traced.mjs';

testLeaks({
  folder: 'corpus',
  python,
  holderTime: 'onFirstLeak',
  concurrency: Number(process.env.GPU_MEMTRACE_AT_ONCE ?? 12),
  env: () => ({ HF_HUB_OFFLINE: '1', OMP_NUM_THREADS: '1' }),
});
