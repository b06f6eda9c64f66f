// The planted leaks on a real GPU.
import { testLeaks } from '../workloads/leakRuns.mjs';
import { python } from './traced.mjs';

testLeaks({ python, concurrency: Number(process.env.GPU_MEMTRACE_AT_ONCE ?? 6) });
