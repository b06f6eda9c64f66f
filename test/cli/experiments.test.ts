// The experiments, on the simulated GPU: the trace must hold exactly what each job reports of itself when it ends.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { inLong } from '../long.mjs';
import { formatBytes } from '../../extension/text/format';
import { check, lastLine, type Facts } from './facts';
import { Place, python, workload, type Ended, type Report } from './launcher';

const MB = 1 << 20;

async function traced(t: TestContext, words: string[], env = {}): Promise<Ended & { place: Place; report: Report }> {
  const place = new Place(t);
  const [name = '', ...rest] = words;
  const ended = await place.trace([python, workload(name), ...rest], env);
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(ended.report.lost.events, 0);
  return { place, ...ended };
}

inLong(test)('malloc and free in one process', async t => {
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
  const { stdout: table } = await place.run(['report', place.path('t.gputrace'), '--blocks']);
  assert.match(table, new RegExp(`^PID: ${facts.pid} / UID: ${process.getuid?.()}$`, 'm'));
  for (const { tid, name } of facts.threads) assert.match(table, new RegExp(`^  ${name}:${tid}$`, 'm'));
  for (const { address, bytes, line } of facts.live) {
    assert.match(
      table,
      new RegExp(`^    ${address}:gpu_0: ${formatBytes(bytes)}.*train_simulator\\.py:${line}\\b`, 'm'),
    );
  }
  const sizes = [...table.matchAll(/^ {4}0x\w+:gpu_0: ([\d.]+) MiB/gm)].map(([, size]) => Number(size));
  assert.ok(sizes.length > 0);
  assert.match(table, new RegExp(`^TOTAL LIVE: ${formatBytes(facts.liveBytes)}$`, 'm'));
});

inLong(test)('four processes', async t => {
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

inLong(test)('one anomalous allocation', async t => {
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
