// importSnapshot(): a promise that is kept beside JavaScript's thread, or rejected with a sentence.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import type { NativeAddon } from '../../../extension/native/native';
import { isSnapshot } from '../../../extension/files/snapshotFile';
import { traceFile } from '../../../extension/native/traceFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertRejects, assertThrows } = sentencesOf(__filename);

const loaded = { exports: {} };
process.dlopen(loaded, resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports as NativeAddon;
const skip = typeof addon.importSnapshot === 'function' ? false : 'the addon in dist is older than this test';

const folder = mkdtempSync(join(tmpdir(), 'gmt-snapshot-'));
after(() => rmSync(folder, { recursive: true }));
function file(name: string, bytes: Buffer): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x8c, value.length]), Buffer.from(value)]);
const pickle = (...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([0x80, 4]), ...parts, Buffer.from('.', 'latin1')]);
const ops = (value: string): Buffer => Buffer.from(value, 'latin1');
/** {"device_traces": [[{"action": "alloc", "addr": 4096, "size": 1000}]]} */
const SNAPSHOT = pickle(
  ops('}('),
  text('device_traces'),
  ops(']](}('),
  ...[text('action'), text('alloc'), text('addr'), ops('M\x00\x10'), text('size'), ops('M\xe8\x03')],
  ops('ueau'),
);
const HOSTILE = pickle(ops('cos\nsystem\n('), text('touch ran'), ops('tR'));

test('a snapshot becomes a trace', { skip }, async () => {
  const target = join(folder, 'a.gputrace');
  await addon.importSnapshot(file('a.pickle', SNAPSHOT), target);
  const trace = addon.open(target);
  await trace.settle();
  const info = trace.info();
  const [tensor] = info.totals;
  assert.deepEqual([info.events, tensor?.layer, tensor?.liveBytes, info.live], [1, 'tensor', 1024, false]);
  assert.deepEqual(info.processes[0]?.command, ['a.pickle']);
  trace.close();
});

test('what was asked for a block, its stream and pool are kept of a snapshot', { skip }, async () => {
  const [source, target] = [join(folder, 'w.pickle'), join(folder, 'w.gputrace')];
  execFileSync('python3', [
    resolve('test/workloads/snapshots/memory_snapshot.py'),
    source,
    '--steps',
    '3',
    '--pool',
    '3',
  ]);
  await addon.importSnapshot(source, target);
  const trace = addon.open(target);
  await trace.settle();
  const live = trace.allocations({ layer: 'tensor', sort: 'bytes', descending: true, from: 0, to: 10 });
  assert.deepEqual(
    [[...live.bytes], [...live.askedBytes], [...live.stream], live.pool],
    [Array(3).fill(2048), Array(3).fill(2000), Array(3).fill(0n), Array(3).fill('0:3')],
  );
  trace.close();
});

test('what is refused rejects with a sentence and leaves no file', { skip }, async () => {
  const source = file('h.pickle', HOSTILE);
  await assertRejects(addon.importSnapshot(source, join(folder, 'h.gputrace')));
  await assertRejects(addon.importSnapshot(source + '.none', 'x'));
  await assert.rejects(addon.importSnapshot(file('b.pickle', SNAPSHOT), '/proc/none/b.gputrace'), /Cannot create /);
  assert.ok(!existsSync(join(folder, 'h.gputrace')));
  const wrong = addon.importSnapshot as (path?: unknown) => unknown;
  assertThrows(() => wrong(5));
});

test('a snapshot is turned into a trace in a folder that goes with it', { skip }, async t => {
  // Others on this machine turn snapshots into traces too.
  const before = process.env.TMPDIR;
  process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'snapshots-'));
  t.after(() => {
    rmSync(tmpdir(), { recursive: true });
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const trace = await traceFile(addon, file('c.pickle', SNAPSHOT));
  assert.ok(existsSync(trace.path));
  trace.release();
  assert.ok(!existsSync(trace.path));
  await assert.rejects(traceFile(addon, file('d.pickle', HOSTILE)), /would call os\.system/);
  assert.deepEqual(readdirSync(tmpdir()), []);
});

test('a snapshot is known by its name or its first byte', () => {
  assert.ok(isSnapshot(join(folder, 'none.PICKLE')));
  assert.ok(isSnapshot(join(folder, 'none.pkl')));
  assert.ok(isSnapshot(file('dump', SNAPSHOT)));
  assert.ok(!isSnapshot(file('t.gputrace', Buffer.from('GPUTRACE'))));
  assert.ok(!isSnapshot(folder));
  assert.ok(!isSnapshot(join(folder, 'none')));
});
