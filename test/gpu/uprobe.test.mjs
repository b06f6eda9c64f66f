// The tracer that comes from outside, on a real driver and PyTorch. It needs root or CAP_BPF + CAP_PERFMON.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { jobFile, python, runTraced, total } from './traced.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const program = join(root, 'dist/native/gpu-memtrace-uprobe');
const able = existsSync(program) && spawnSync(program, ['self-test']).status === 0;
const skip = able ? false : 'no rights to attach, or no tracer built';

/** Allocations, frees and live blocks by source line. Not bytes: what a block is rounded to depends on which thread came first. */
function byLine(report) {
  const lines = new Map();
  for (const site of report.sites.filter(site => site.layer === 'tensor' && site.userFrame)) {
    const key = `${site.userFrame.file}:${site.userFrame.line}`;
    const sum = lines.get(key) ?? { allocations: 0, frees: 0, liveCount: 0 };
    for (const field of Object.keys(sum)) sum[field] += site[field];
    lines.set(key, sum);
  }
  return Object.fromEntries([...lines].sort());
}

for (const job of ['accounting', 'creeping']) {
  test(`${job}: both tracers tell the same`, { skip }, () => {
    const inside = runTraced(job, { STEPS: '60' });
    const outside = runTraced(job, { STEPS: '60' }, ['--backend', 'uprobe']);
    assert.equal(outside.status, 0, outside.stderr);
    assert.equal(outside.stdout, inside.stdout, 'the program prints the same');
    assert.deepEqual(outside.report.lost.byCause, {});
    const stats = outside.truth.stats;
    const tensors = total(outside.report, 'tensor');
    assert.equal(tensors.allocations, stats['allocation.all'].allocated, 'allocations');
    assert.equal(tensors.frees, stats['allocation.all'].freed, 'frees');
    assert.equal(tensors.liveBytes, stats['allocated_bytes.all'].current, 'live bytes');
    const driver = total(outside.report, 'driver');
    assert.equal(driver.segmentAllocations, stats['segment.all'].allocated, 'segments');
    assert.equal(driver.segmentFrees, stats['segment.all'].freed, 'segments freed');
    assert.deepEqual(byLine(outside.report), byLine(inside.report));
    console.log(
      `${job}: ${tensors.allocations} allocations, ${Object.keys(byLine(outside.report)).length} lines equal`,
    );
  });
}

test('attach to a running job, watch its leak, detach: the job ends as it does alone', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-attach-'));
  const alone = spawnSync(python, [jobFile('creeping')], { encoding: 'utf8' });
  const job = spawn(python, [jobFile('creeping')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(job, 'exit');
  let printed = '';
  const underWay = new Promise(resolve => {
    job.stdout.on('data', data => {
      printed += data;
      if (printed.includes('under way')) resolve();
    });
  });
  await underWay;
  const report = join(folder, 'report.json');
  const tracer = spawn(
    process.execPath,
    [join(root, 'dist/cli.js'), 'attach', String(job.pid), '--format', 'json', '--report', report],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  tracer.stderr.on('data', data => (said += data));
  setTimeout(() => tracer.kill('SIGINT'), 4000);
  const [status] = await once(tracer, 'exit');
  assert.equal(status, 0, said);
  const [jobStatus] = await ended;
  assert.equal(jobStatus, 0);
  assert.equal(printed, alone.stdout, 'the same losses, bit for bit');
  const seen = JSON.parse(readFileSync(report, 'utf8'));
  assert.deepEqual(seen.lost.byCause, {});
  const line =
    readFileSync(jobFile('creeping'), 'utf8')
      .split('\n')
      .findIndex(text => text.includes('# LEAK')) + 1;
  const leak = seen.sites.find(site => site.layer === 'tensor' && site.userFrame?.line === line && site.liveCount > 20);
  assert.ok(leak, 'the line that keeps a tensor a step');
  assert.equal(leak.liveBytes, leak.liveCount * 512 * 256 * 4);
  console.log(`attached: ${leak.liveCount} blocks, ${leak.liveBytes} bytes kept by line ${line}`);
});
