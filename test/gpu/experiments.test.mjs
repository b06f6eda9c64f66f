// The four experiments of test/workloads on a real GPU, through PyTorch and through the driver alone: the trace holds what
// each job says of itself when it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runTraced, total } from './traced.mjs';

const EXPERIMENTS = [
  ['train_simulator', '--sleep-ms', '2'],
  ['gpu_mem_stressor', '--procs', '4', '--duration', '2', '--leak-prob', '0.3'],
  ['gpu_mem_threads_leak', '--threads', '5', '--duration', '2', '--sleep-ms', '5'],
  ['gpu_alloc_anomaly', '--threads', '4', '--sleep-ms', '5'],
];

/** All live blocks of a process by address, with device, thread, line; PyTorch's blocks may be rounded up. */
function check(report, facts, layer) {
  const sites = new Map(report.sites.map(site => [site.id, site]));
  const names = new Map(facts.threads.map(({ tid, name }) => [tid, name]));
  assert.ok(report.processes.some(({ pid }) => pid === facts.pid));
  const live = new Map(
    report.allocations
      .filter(each => each.layer === layer && each.pid === facts.pid)
      .map(each => [Number(each.address), each]),
  );
  for (const block of facts.live) {
    const seen = live.get(Number(block.address));
    assert.ok(seen, `${block.address} of ${facts.pid} is not in the trace`);
    assert.ok(seen.bytes >= block.bytes && seen.bytes <= block.bytes + (1 << 20), `${seen.bytes} for ${block.bytes}`);
    assert.deepEqual([seen.device, seen.tid, seen.thread], [block.device, block.tid, names.get(block.tid)]);
    if (block.line) assert.equal(sites.get(seen.site).userFrame?.line, block.line);
  }
  const sums = total(report, layer, facts.pid);
  if (layer === 'tensor') {
    assert.deepEqual(
      [sums.allocations, sums.frees, sums.liveBytes],
      [facts.stats.allocations, facts.stats.frees, facts.stats.liveBytes],
    );
    assert.equal(total(report, 'driver', facts.pid).segmentAllocations > 0, true);
  }
}

for (const [name, ...options] of EXPERIMENTS) {
  for (const [backend, layer] of Object.entries({ torch: 'tensor', driver: 'driver' })) {
    test(`${name} on ${backend}`, () => {
      const env = { GPU_MEMTRACE_WORKLOAD: backend };
      const { report, stdout, status, stderr } = runTraced({ workload: name, options }, env);
      assert.equal(status, 0, stderr);
      const facts = JSON.parse(stdout.trim().split('\n').at(-1));
      const processes = facts.processes ?? [facts];
      for (const each of processes) check(report, each, layer);
      if (facts.anomaly) {
        const biggest = report.allocations.filter(each => each.layer === layer).sort((a, b) => b.bytes - a.bytes)[0];
        assert.deepEqual([biggest.bytes, biggest.tid], [facts.anomaly.bytes, facts.anomaly.tid]);
      }
      assert.equal(report.lost.events, 0);
      console.log(
        `${name} on ${backend}: ${processes.length} process(es), ${processes.reduce((n, each) => n + each.live.length, 0)} live blocks agree`,
      );
    });
  }
}
