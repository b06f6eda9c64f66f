import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  simulatorVariables,
  traceVariables,
  type TraceEnvironment,
} from '../../../extension/capture/launch/environment';

const library = '/dist/native/libgpumemtrace.so';
const trace: TraceEnvironment = {
  dist: '/dist',
  traceDirectory: '/run/t',
  cupti: '/cuda/libcupti.so.13',
  budgetBytes: 1000.7,
  lean: false,
  maxSteps: null,
};

test('an empty environment gets the library, the directory and the limits', () => {
  assert.deepEqual(traceVariables({}, trace), {
    GPU_MEMTRACE_DIR: '/run/t',
    LD_PRELOAD: library,
    CUDA_INJECTION64_PATH: library,
    NVTX_INJECTION64_PATH: library,
    GPU_MEMTRACE_BUDGET: '1000',
    GPU_MEMTRACE_CUPTI: '/cuda/libcupti.so.13',
  });
});

test('what is set already is chained', () => {
  const variables = traceVariables({ LD_PRELOAD: '/a.so /b.so:/c.so', CUDA_INJECTION64_PATH: '/other.so' }, trace);
  assert.equal(variables.LD_PRELOAD, `${library}:/a.so:/b.so:/c.so`);
  assert.equal(variables.CUDA_INJECTION64_PATH, library);
  assert.equal(variables.GPU_MEMTRACE_CHAIN, '/other.so');
});

test('another tool that has NVTX keeps it', () => {
  const variables = traceVariables({ NVTX_INJECTION64_PATH: '/nsight/libToolsInjection64.so' }, trace);
  assert.equal('NVTX_INJECTION64_PATH' in variables, false);
});

test('a second run inside the first neither preloads twice nor chains itself', () => {
  const variables = traceVariables({ LD_PRELOAD: `${library}:/a.so`, CUDA_INJECTION64_PATH: library }, trace);
  assert.equal(variables.LD_PRELOAD, `${library}:/a.so`);
  assert.equal(variables.GPU_MEMTRACE_CHAIN, undefined);
});

test('a lean run says so', () => {
  assert.equal(traceVariables({}, { ...trace, lean: true }).GPU_MEMTRACE_LEAN, '1');
});

test('the library gets the most steps', () => {
  assert.equal(traceVariables({}, { ...trace, maxSteps: 30 }).GPU_MEMTRACE_MAX_STEPS, '30');
});

test('the simulator comes before other libraries, with its own CUPTI', () => {
  const variables = simulatorVariables({ LD_LIBRARY_PATH: '/x::/y' }, '/checkout/dist');
  assert.equal(variables.LD_LIBRARY_PATH, '/checkout/build/simulator:/x:/y');
  assert.equal(variables.GPU_MEMTRACE_CUPTI, '/checkout/build/simulator/libcupti.so.13');
  assert.equal(variables.GPU_MEMTRACE_SIMULATOR, '/checkout/build/simulator');
  const real = traceVariables({ LD_LIBRARY_PATH: '/x' }, trace);
  assert.deepEqual([real.LD_LIBRARY_PATH, real.GPU_MEMTRACE_SIMULATOR], [undefined, undefined]);
});
