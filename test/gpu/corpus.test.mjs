// Programs that were written without sight of the rules, on a real GPU.
import { testLeaks } from '../workloads/leakRuns.mjs';
import { python } from './traced.mjs';

testLeaks({
  folder: 'corpus',
  python,
  holderTime: 'onFirstLeak',
  concurrency: 12,
  env: () => ({ HF_HUB_OFFLINE: '1', OMP_NUM_THREADS: '1' }),
});
