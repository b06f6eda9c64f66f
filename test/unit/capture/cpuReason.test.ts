import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { cpuReason } from '../../../extension/capture/processes/cpuReason';
import { findLibcuda } from '../../../extension/capture/processes/machine';
import type { CpuReason } from '../../../extension/text/cpuText';

const PID = 42;

/** Why a process runs on the CPU that has mapped `loaded`, of a folder with these libraries. */
function reason(
  t: TestContext,
  libraries: readonly string[],
  { loaded = ['libtorch_cpu.so'], variables = {} as Record<string, string> } = {},
): Promise<CpuReason | null> {
  const folder = mkdtempSync(join(tmpdir(), 'torch-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of libraries) writeFileSync(join(folder, name), '');
  const proc = join(folder, String(PID));
  mkdirSync(proc);
  const lines = loaded.map(name => `7f12a0000000-7f12a0200000 r-xp 00000000 fe:01 12345    ${join(folder, name)}`);
  writeFileSync(join(proc, 'maps'), lines.join('\n'));
  const driver = Object.entries(variables).map(([name, value]) => `${name}=${value.replace('HERE', folder)}\0`);
  writeFileSync(join(proc, 'environ'), driver.join(''));
  return cpuReason(PID, folder);
}

const CPU_BUILD = ['libtorch_cpu.so', 'libtorch_python.so', 'libc10.so'];
const CUDA_BUILD = [...CPU_BUILD, 'libtorch_cuda.so', 'libc10_cuda.so'];

test('a build of PyTorch without a library for GPUs beside it runs on the CPU', async t => {
  assert.equal(await reason(t, CPU_BUILD), 'build');
});

test('one for CUDA does where no driver is found, by the program’s own variables', async t => {
  const variables = { LD_LIBRARY_PATH: '/nowhere:HERE' };
  assert.equal(await reason(t, [...CUDA_BUILD, 'libcuda.so.1'], { variables }), null);
  assert.equal(await reason(t, CUDA_BUILD), (await findLibcuda({})) === null ? 'driver' : null);
});

test('nothing is said of builds for other GPUs, of a driver that is loaded, and of what is not to be seen', async t => {
  assert.equal(await reason(t, [...CPU_BUILD, 'libc10_hip.so']), null);
  assert.equal(await reason(t, [...CUDA_BUILD, 'libc10_xpu.so']), null);
  assert.equal(await reason(t, CPU_BUILD, { loaded: ['libtorch_cpu.so', 'libcuda.so.1'] }), null);
  assert.equal(await reason(t, CPU_BUILD, { loaded: ['libc10.so'] }), null, 'PyTorch is not loaded');
  assert.equal(await reason(t, []), null, 'its files are in another container');
  assert.equal(await cpuReason(PID, '/no/such/folder'), null);
});
