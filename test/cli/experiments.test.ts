// The experiments, on the simulated GPU: the trace must hold exactly what each job says of itself when it ends.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Place, python, workload, type Ended, type Report } from './launcher';

const MB = 1 << 20;

/** What a job prints of one process. */
interface Facts {
  pid: number;
  allocations: number;
  frees: number;
  liveBytes: number;
  live: { address: string; bytes: number; device: number; tid: number; file: string; line: number; function: string }[];
  threads: { tid: number; name: string }[];
  stats: { allocations: number; frees: number; liveBytes: number; reservedBytes: number; outOfMemory: number };
}

const lastLine = <T>({ stdout }: Ended): T => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;

/** Compares all live blocks of a process, each with its thread and line, and the sums. */
function check(report: Report, facts: Facts): void {
  const sites = new Map(report.sites.map(site => [site.id, site.frames[0]]));
  const names = new Map(facts.threads.map(({ tid, name }) => [tid, name]));
  const byAddress = (a: { address: string }, b: { address: string }): number => a.address.localeCompare(b.address);
  const traced = report.allocations
    .filter(({ layer, pid }) => layer === 'tensor' && pid === facts.pid)
    .map(({ address, bytes, device, tid, thread, site }) => ({
      address,
      bytes,
      device,
      tid,
      thread,
      ...sites.get(site),
    }));
  const said = facts.live.map(block => ({ ...block, thread: names.get(block.tid) }));
  assert.deepEqual(traced.sort(byAddress), said.sort(byAddress));
  const total = report.totals.find(({ layer, pid }) => layer === 'tensor' && pid === facts.pid);
  assert.deepEqual(
    [total?.liveBytes, total?.allocations, total?.frees],
    [facts.liveBytes, facts.stats.allocations, facts.stats.frees],
  );
  const driver = report.totals.find(({ layer, pid }) => layer === 'driver' && pid === facts.pid);
  assert.equal(driver?.liveBytes, facts.stats.reservedBytes, 'what the cache holds came from the driver');
}

async function traced(t: TestContext, words: string[], env = {}): Promise<Ended & { place: Place; report: Report }> {
  const place = new Place(t);
  const [name = '', ...rest] = words;
  const ended = await place.trace([python, workload(name), ...rest], env);
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(ended.report.lost.events, 0);
  return { place, ...ended };
}

test('malloc and free in one process', async t => {
  const ended = await traced(t, ['train_simulator', '--sleep-ms', '2']);
  const facts = lastLine<Facts>(ended);
  check(ended.report, facts);
  assert.ok(facts.live.length > 2 && facts.frees > 50);
  const autograd = ended.report.processes[0]?.threads.find(({ name }) => name === 'pt_autograd_0');
  assert.ok(autograd && ended.report.allocations.some(({ tid }) => tid === autograd.tid));
});

test('the table of the experiment: process, threads, addresses, sizes, lines', async t => {
  const { place, ...ended } = await traced(t, ['train_simulator', '--sleep-ms', '2']);
  const facts = lastLine<Facts>(ended);
  const { stdout: table } = await place.run(['report', place.path('t.gputrace')]);
  assert.match(table, new RegExp(`^PID: ${facts.pid} / UID: ${process.getuid?.()}$`, 'm'));
  for (const { tid, name } of facts.threads) assert.match(table, new RegExp(`^  ${name}:${tid}$`, 'm'));
  for (const { address, bytes, line } of facts.live) {
    const size =
      bytes >= MB ? `${(bytes / MB).toFixed(2)} MB` : bytes >= 1024 ? `${(bytes / 1024).toFixed(2)} KB` : bytes;
    assert.match(table, new RegExp(`^    ${address}:gpu_0: ${size}.*train_simulator\\.py:${line}\\b`, 'm'));
  }
  const sizes = [...table.matchAll(/^ {4}0x\w+:gpu_0: ([\d.]+) MB/gm)].map(([, size]) => Number(size));
  assert.ok(sizes.length > 0);
  assert.match(table, new RegExp(`^TOTAL LIVE: ${(facts.liveBytes / MB).toFixed(2)} MB$`, 'm'));
});

test('four processes', async t => {
  const ended = await traced(t, ['gpu_mem_stressor', '--duration', '1', '--leak-prob', '0.3']);
  const { processes } = lastLine<{ processes: Facts[] }>(ended);
  assert.equal(processes.length, 4);
  for (const facts of processes) check(ended.report, facts);
});

test('five threads', async t => {
  const ended = await traced(t, ['gpu_mem_threads_leak', '--duration', '1', '--sleep-ms', '5']);
  const facts = lastLine<Facts>(ended);
  check(ended.report, facts);
  assert.ok(new Set(facts.live.map(({ tid }) => tid)).size >= 4);
});

test('one anomalous allocation', async t => {
  const ended = await traced(t, ['gpu_alloc_anomaly', '--sleep-ms', '5']);
  const facts = lastLine<Facts & { anomaly: { tid: number; bytes: number } }>(ended);
  check(ended.report, facts);
  const biggest = ended.report.allocations.find(({ layer }) => layer === 'tensor');
  assert.deepEqual([biggest?.bytes, biggest?.tid], [facts.anomaly.bytes, facts.anomaly.tid]);
  assert.equal(facts.anomaly.bytes, 2096 * MB);
});

test('out of memory is data, and the program goes on', async t => {
  const ended = await traced(t, ['oom'], { GPU_MEMTRACE_SIM_MEMORY: '1GiB' });
  const facts = lastLine<Facts & { failedBytes: number }>(ended);
  check(ended.report, facts);
  const { oom } = ended.report;
  assert.ok(oom.some(entry => entry.layer === 'tensor' && entry.requestedBytes === facts.failedBytes));
  assert.equal(oom.filter(entry => entry.layer === 'tensor').length, facts.stats.outOfMemory);
});

test('children of every kind', async t => {
  const ended = await traced(t, ['fork_spawn_exec']);
  const { parent, children } = lastLine<{ parent: Facts; children: (Facts & { kind: string; live?: unknown })[] }>(
    ended,
  );
  check(ended.report, parent);
  const using = children.filter(child => child.live !== undefined);
  assert.deepEqual(using.map(({ kind }) => kind).sort(), ['fork', 'fork_exec', 'forkserver', 'spawn', 'subprocess']);
  for (const child of using) check(ended.report, child);
});
