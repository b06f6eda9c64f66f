// Who called the driver, on a real one: each library bears its name, whatever lies between it and the driver.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';

import { runTraced, total } from './traced.mjs';

const MB = 1 << 20;
/** The job runs once for all tests. */
let ran;
const job = () => (ran ??= runTraced('callers'));
const megabytes = bytes => `${(bytes / MB).toFixed(2)} MiB`;
const driverSites = report => report.sites.filter(site => site.layer === 'driver');
const isLibrary = (site, begin) => basename(site.library).startsWith(begin);
const sum = (sites, field) => sites.reduce((all, site) => all + site[field], 0);

/** Live bytes of the ledger's libraries whose file name begins so. */
function held(report, ...begins) {
  const all = report.ledger.flatMap(entry => entry.libraries);
  const own = all.filter(({ path }) => begins.some(begin => basename(path).startsWith(begin)));
  return own.reduce((bytes, library) => bytes + library.bytes, 0);
}

test('what was seen', () => {
  const { report, truth, status, stderr, table } = job();
  assert.equal(status, 0, stderr);
  for (const [name, [bytes, why]] of Object.entries(truth.taken))
    console.log(`  ${name} took ${bytes === null ? `nothing: ${why}` : megabytes(bytes)}`);
  for (const { libraries } of report.ledger)
    for (const { name, path, bytes } of libraries) console.log(`  ledger: ${name} ${megabytes(bytes)}  ${path}`);
  for (const site of report.sites.filter(({ layer }) => layer !== 'tensor')) {
    const line = site.userFrame === null ? '' : `${basename(site.userFrame.file)}:${site.userFrame.line}`;
    const counts = `${site.allocations} allocations, ${megabytes(site.liveBytes)} alive`;
    console.log(`  ${site.layer}: ${basename(site.library) || 'UNKNOWN'} ${counts} ${line} ${site.verdict}`);
  }
  console.log(
    table
      .split('\n')
      .filter(line => /driver layer|^ {4}\S.*: [\d.]+ (?:[KMG]i)?B/.test(line))
      .join('\n'),
  );
});

test('nearly all allocations of the driver have a caller', () => {
  const sites = driverSites(job().report);
  const unknown = sites.filter(site => site.library === '');
  const [lost, all] = [sum(unknown, 'allocations'), sum(sites, 'allocations')];
  console.log(`${all - lost} of ${all} driver allocations have a caller`);
  assert.ok(all > 5);
  assert.ok(lost <= all / 20, JSON.stringify(unknown.map(site => [site.allocations, site.userFrame])));
});

test('PyTorch’s segments are called for by its allocator, and are no row of the ledger', () => {
  const { report } = job();
  const allocator = driverSites(report).filter(site => isLibrary(site, 'libc10_cuda'));
  const segments = total(report, 'driver').segmentAllocations;
  console.log(`${sum(allocator, 'allocations')} allocations by libc10_cuda, ${segments} segments`);
  assert.ok(segments > 0 && sum(allocator, 'allocations') >= segments);
  assert.equal(held(report, 'libc10_cuda'), 0);
});

test('cudaMalloc and cuMemAlloc through ctypes are the program’s', () => {
  const { report } = job();
  const own = held(report, 'python', 'libpython');
  assert.ok(own >= 96 * MB && own < 97 * MB, megabytes(own));
});

test('a library that calls the runtime is named, not the runtime', t => {
  const { report, truth } = job();
  const [bytes, why] = truth.taken.own;
  if (bytes === null) return t.skip(why);
  assert.equal(held(report, 'libown_test'), 48 * MB);
  assert.equal(held(report, 'libcudart', 'libcuda.so', 'libcupti', 'libffi', '_ctypes'), 0);
});

test('cuBLAS is named for what it takes by itself', t => {
  const { report, truth } = job();
  const [bytes, why] = truth.taken.cublas;
  if (bytes === null) return t.skip(why);
  const own = held(report, 'libcublas');
  console.log(
    `cuBLAS holds ${megabytes(own)}; the device had ${megabytes(bytes)} less after it (kernels loaded, tensors)`,
  );
  if (!driverSites(report).some(site => isLibrary(site, 'libcublas')))
    return t.skip('this cuBLAS called no function of the driver for memory');
  assert.ok(own > 0);
});

test('NCCL is named for what it takes', t => {
  const { report, truth } = job();
  const [bytes, why] = truth.taken.nccl;
  if (bytes === null) return t.skip(why);
  if (truth.nccl_library === null) return t.skip('NCCL is a part of PyTorch’s own library here');
  const sites = report.sites.filter(site => site.layer !== 'tensor' && isLibrary(site, 'libnccl'));
  console.log(`NCCL: ${sum(sites, 'allocations')} allocations, ${megabytes(sum(sites, 'liveBytes'))} alive`);
  assert.ok(sum(sites, 'allocations') > 0);
});

test('CuPy is named by its package', t => {
  const { report, truth } = job();
  const [bytes, why] = truth.taken.cupy;
  if (bytes === null) return t.skip(why);
  const names = report.ledger.flatMap(entry => entry.libraries.map(({ name }) => name));
  assert.ok(
    names.some(name => name.startsWith('CuPy (')),
    names.join(),
  );
});
