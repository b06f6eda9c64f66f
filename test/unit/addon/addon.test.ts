import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import type { NativeAddon } from '../../../extension/native/native';
import type { AllocationQuery, SiteQuery } from '../../../extension/protocol/trace';
import { kinds, LogFile } from './logFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertThrows } = sentencesOf(__filename);

const file = resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node');
const loaded = { exports: {} };
process.dlopen(loaded, file);
const addon = loaded.exports as NativeAddon;

const folders: string[] = [];
function folder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'gmt-addon-')));
  return folders.at(-1)!;
}
after(() => folders.forEach(path => rmSync(path, { recursive: true })));

const all: SiteQuery = {
  layer: 'tensor',
  groupBy: 'site',
  sort: 'liveBytes',
  descending: true,
  from: 0,
  to: 100,
};
const blocks: AllocationQuery = { sort: 'bytes', descending: true, from: 0, to: 100 };

/** A log with two lines, two threads, one device and 1,536 + 4,096 bytes alive. */
function sample(directory: string, alive = false): LogFile {
  const log = new LogFile(directory, alive);
  log.process(['/usr/bin/python3', '/home/ada/train.py', '--fast']);
  log.thread(0, 700, 'python');
  log.thread(1, 701, 'loader');
  log.device(0, 'Simulated GPU', 8n << 30n);
  log.note(5, 'torch 2.11 was found.');
  const inner = {
    file: '/venv/lib/python3.12/site-packages/torch/nn/linear.py',
    line: 125,
    function: 'Linear.forward',
  };
  const first = log.stack([inner, { file: '/home/ada/net.py', line: 20, function: 'Net.forward' }]);
  const second = log.stack([{ file: '/home/ada/train.py', line: 7, function: 'main' }]);
  log.event(kinds.deviceAlloc, 0x7f0000000000n, 2 << 20, first);
  log.event(kinds.reserved, 0, 2 << 20);
  log.event(kinds.tensorAlloc, 0x7f0000000000n, 512, first);
  log.event(kinds.tensorAlloc, 0x7f0000000200n, 1024, first);
  log.event(kinds.tensorAlloc, 0x7f0000001000n, 4096, second, 1);
  log.event(kinds.tensorAlloc, 0x7f0000002000n, 999, second, 1);
  log.event(kinds.tensorFree, 0x7f0000002000n, 999, 0, 0);
  log.event(kinds.tensorOom, 0, 1 << 30, second, 1);
  return log;
}

test('a trace directory is read: who, what, where', async () => {
  const directory = folder();
  const log = sample(directory);
  log.lose(1, 5n);
  log.end();
  const session = JSON.stringify({ command: ['python3'], processes: [{ pid: 5_000_001, exitCode: 3 }] });
  writeFileSync(join(directory, 'session.json'), session);
  const trace = addon.open(directory);
  await trace.settle();

  const info = trace.info();
  assert.equal(info.events, 8);
  assert.equal(info.live, false);
  assert.equal(info.startRealtimeMs, 1_700_000_000_000);
  assert.equal(info.durationNs, 7000);
  assert.equal(info.lost.events, 5);
  assert.deepEqual(Object.values(info.lost.byCause), [5]);
  assert.deepEqual(info.session['command'], ['python3']);
  assert.equal(info.processes.length, 1);
  const [process] = info.processes;
  assert.deepEqual(process!.command, ['/usr/bin/python3', '/home/ada/train.py', '--fast']);
  assert.deepEqual(process!.threads, [
    { index: 0, tid: 700, name: 'python' },
    { index: 1, tid: 701, name: 'loader' },
  ]);
  assert.deepEqual(process!.notes, [{ code: 5, text: 'torch 2.11 was found.' }]);
  const facts = [process!.pid, process!.uid, process!.exitCode, process!.ended, process!.python, process!.driverSource];
  assert.deepEqual(facts, [5_000_001, 1000, 3, true, '3.12', 'cupti']);
  assert.equal(process!.simulated, true);
  assert.deepEqual(info.devices, [{ index: 0, name: 'Simulated GPU', totalBytes: 8 * 2 ** 30 }]);
  const tensor = info.totals.find(totals => totals.layer === 'tensor')!;
  assert.deepEqual(
    [tensor.device, tensor.liveBytes, tensor.liveCount, tensor.peakBytes, tensor.allocations, tensor.frees],
    [0, 5632, 3, 6631, 4, 1],
  );
  assert.equal(info.totals.find(totals => totals.layer === 'driver')!.liveBytes, 2 << 20);
  assert.deepEqual([info.outOfMemory.length, info.outOfMemoryCount], [1, 1]);
  const [oom] = info.outOfMemory;
  assert.deepEqual([oom!.requestedBytes, oom!.liveBytes, oom!.thread, oom!.layer], [2 ** 30, 5632, 1, 'tensor']);
  assert.equal(trace.site(oom!.site)!.frames[0]!.line, 7);
  trace.close();
});

test('rows, sites, blocks and the timeline arrive in typed arrays', async () => {
  const directory = folder();
  sample(directory).end();
  const trace = addon.open(directory);
  await trace.settle();
  const rows = trace.sites(all);
  assert.deepEqual([rows.total, rows.rows, rows.sumLiveBytes, rows.sumLiveCount], [2, 2, 5632, 3]);
  assert.deepEqual([...rows.liveBytes], [4096, 1536]);
  assert.deepEqual([...rows.peakBytes], [5095, 1536]);
  assert.deepEqual([...rows.line], [7, 20]);
  assert.deepEqual(rows.file, ['/home/ada/train.py', '/home/ada/net.py']);
  assert.deepEqual(rows.function, ['main', 'Net.forward']);
  assert.deepEqual(rows.source, ['python', 'python']);
  assert.deepEqual([...rows.thread], [1, 0]);
  assert.deepEqual(rows.label, ['/home/ada/train.py:7', '/home/ada/net.py:20']);
  assert.equal(rows.spark.length, 32);
  assert.equal(rows.spark[15], 4096);
  assert.deepEqual(trace.sites({ ...all, groupBy: 'thread' }).label, ['loader:701', 'python:700']);
  assert.deepEqual(trace.sites({ ...all, groupBy: 'process' }).label, ['train.py (5000001)']);
  assert.deepEqual(trace.sites({ ...all, groupBy: 'device' }).label, ['gpu_0']);
  assert.deepEqual(trace.sites({ ...all, filter: 'LOADER >4000' }).file, ['/home/ada/train.py']);
  assert.equal(trace.sites({ ...all, from: 1, to: 2 }).file[0], '/home/ada/net.py');

  const site = trace.site(rows.id[1]!)!;
  assert.deepEqual([site.layer, site.source, site.cut, site.userFrame], ['tensor', 'python', false, 1]);
  assert.equal(site.frames[0]!.function, 'Linear.forward');
  assert.equal(trace.site(123456), null);

  const live = trace.allocations({ ...blocks, layer: 'tensor' });
  assert.deepEqual([...live.bytes], [4096, 1024, 512]);
  assert.equal(live.address[0], 0x7f0000001000n);
  assert.deepEqual([...live.site], [rows.id[0], rows.id[1], rows.id[1]]);
  assert.equal(live.sumBytes, 5632);
  assert.equal(trace.allocations(blocks).total, 4);
  assert.equal(trace.allocations({ ...blocks, thread: 1 }).total, 1);

  const line = trace.timeline({ series: 'tensor', fromNs: 0, toNs: 1e6, buckets: 100 });
  assert.ok(line instanceof Float64Array);
  assert.deepEqual([...line], [0, 512, 6631, 5632]);
  assert.equal(trace.timeline({ series: 'reserved', fromNs: 0, toNs: 1e6, buckets: 100 })[3], 2 << 20);
  trace.close();
});

test('a log is followed while it grows', async () => {
  const directory = folder();
  const log = sample(directory, true);
  const trace = addon.open(directory);
  await trace.settle();
  assert.equal(trace.info().live, true);
  const before = trace.revision();
  assert.equal(trace.revision(), before);
  for (let i = 0; i < 20_000; i++) log.event(kinds.tensorAlloc, 0x7f1000000000n + BigInt(i), 1);
  await trace.settle();
  assert.ok(trace.revision() > before);
  assert.equal(trace.info().events, 20_008);
  assert.equal(trace.sites(all).sumLiveBytes, 25_632);
  trace.close();
  log.close();
});

test('a saved trace says what the directory said', async () => {
  const directory = folder();
  sample(directory).end();
  const trace = addon.open(directory);
  await trace.settle();
  const saved = join(directory, 'run.gputrace');
  await trace.save(saved, '{"command":["demo"]}');
  await assert.rejects(trace.save(join(directory, 'no/such/folder.gputrace'), '{}'), /^Error: .+/);
  const again = addon.open(saved);
  await again.settle();
  assert.deepEqual(again.info().totals, trace.info().totals);
  assert.deepEqual(again.info().session, { command: ['demo'] });
  assert.deepEqual(again.sites(all).file, trace.sites(all).file);
  assert.equal(again.info().live, false);
  trace.close();
  again.close();
});

test('errors are one sentence', async () => {
  const directory = folder();
  assert.throws(() => addon.open(join(directory, 'nothing')), /^Error: [^\n]+$/);
  writeFileSync(join(directory, 'text.gputrace'), 'not a trace at all');
  assert.throws(() => addon.open(join(directory, 'text.gputrace')), /^Error: [^\n]+$/);
  sample(directory).end();
  const trace = addon.open(directory);
  assertThrows(() => trace.sites({ ...all, layer: 'disk' as 'host' }));
  assertThrows(() => trace.sites({ ...all, from: 'x' as unknown as number }));
  assertThrows(() => trace.timeline(undefined as never));
  trace.close();
  trace.close();
  for (const call of [() => trace.info(), () => trace.revision(), () => trace.sites(all), () => trace.settle()]) {
    assert.throws(call, /was closed/);
  }
});

test('the control word is made, switched and counted', () => {
  const directory = folder();
  const control = (): number[] => [0, 4, 8, 12].map(at => readFileSync(join(directory, 'control')).readUInt32LE(at));
  addon.setRecording(directory, true);
  assert.deepEqual(control(), [0x4c54434d, 1, 1, 1]);
  assert.equal(statSync(join(directory, 'control')).size, 64);
  assert.equal(statSync(join(directory, 'control')).mode & 0o777, 0o600);
  addon.setRecording(directory, false);
  assert.deepEqual(control(), [0x4c54434d, 1, 0, 2]);
  assertThrows(() => addon.setRecording(join(directory, 'absent'), true));
});

/** Runs `code` in another Node with `open()` at hand; its exit status and signal. */
function inAnotherNode(directory: string, code: string): string {
  const prelude = `const m = { exports: {} }; process.dlopen(m, ${JSON.stringify(file)});
    const open = () => m.exports.open(${JSON.stringify(directory)});`;
  const run = spawnSync(process.execPath, ['--expose-gc', '-e', prelude + code], { encoding: 'utf8', timeout: 60_000 });
  return `${run.status} ${run.signal} ${run.stderr}${run.stdout}`;
}

test('no end of a session, a worker or a process hangs or crashes', () => {
  const directory = folder();
  const log = sample(directory, true);
  const ends = {
    closedWhileSettling: 'const s = open(); s.settle().then(() => {}, e => console.log(e.message)); s.close();',
    neverClosed: 'open(); open().info();',
    exited: 'open().settle(); process.exit(0);',
    collected: 'for (let i = 0; i < 20; i++) open(); gc(); setTimeout(() => { gc(); process.exit(0); }, 50);',
    workerEnded: `const { Worker } = require('node:worker_threads');
      const code = 'const m = { exports: {} }; process.dlopen(m, ' + ${JSON.stringify(JSON.stringify(file))} + ');' +
        'const s = m.exports.open(' + ${JSON.stringify(JSON.stringify(directory))} + '); s.settle().then(() => s.info());';
      new Worker(code, { eval: true });
      const tell = 'setInterval(() => {}, 10); require("node:worker_threads").parentPort.postMessage("opened")';
      const w = new Worker(code + tell, { eval: true });
      w.once('message', () => w.terminate());`,
    workerEndedAmidAnswers: `const { Worker } = require('node:worker_threads');
      const code = 'const m = { exports: {} }; process.dlopen(m, ' + ${JSON.stringify(JSON.stringify(file))} + ');' +
        'const s = m.exports.open(' + ${JSON.stringify(JSON.stringify(directory))} + '); s.settle().then(() => {' +
        'require("node:worker_threads").parentPort.postMessage("opened"); for (;;) s.info(); });';
      const end = left => {
        const w = new Worker(code, { eval: true });
        w.once('message', () => setTimeout(() => w.terminate().then(() => left > 0 && end(left - 1)), left % 5));
      };
      end(30);`,
  };
  for (const [name, code] of Object.entries(ends)) {
    const result = inAnotherNode(directory, code);
    assert.match(result, /^0 null (.*\bclosed\b.*\n)?$/, `${name}: ${result}`);
  }
  log.close();
});

test('what was there before the tracer came says so in the place of its line', async () => {
  const directory = folder();
  const log = new LogFile(directory, false);
  log.thread(0, 700, 'python');
  const before = log.stack([], 2);
  const unknown = log.stack([]);
  log.event(kinds.tensorAlloc, 0x7f0000000000n, 512, before);
  log.event(kinds.tensorAlloc, 0x7f0000000200n, 1024, unknown);
  log.end();
  const trace = addon.open(directory);
  await trace.settle();
  const sites = trace.sites(all);
  assert.deepEqual(
    [...sites.id].map((id, row) => [sites.liveBytes[row], sites.source[row], trace.site(id)?.source]),
    [
      [1024, 'python', 'python'],
      [512, 'before-attach', 'before-attach'],
    ],
  );
  trace.close();
});
