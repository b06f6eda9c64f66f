// Segments, and every allocation handed out once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { CATEGORIES, LAYERS, type LifetimeBatch } from '../../../extension/protocol/trace';
import type { LifetimeOptions } from '../../../extension/native/native';
import { addon, addonFile, outdated } from './builtAddon';
import { kinds, LogFile } from './logFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertRejects, assertThrows } = sentencesOf(__filename);

const skip = outdated;
const folders: string[] = [];
function folder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'gmt-lifetimes-')));
  return folders.at(-1)!;
}
after(() => folders.forEach(path => rmSync(path, { recursive: true })));

interface Row {
  address: number;
  bytes: number;
  layer: string;
  line: number;
  beginNs: number;
  endNs: number;
  freeThread: number;
}

/** `pairs` blocks at random addresses, most of them freed again, and what must be said of each. */
function randomLog(directory: string, pairs: number): Row[] {
  const log = new LogFile(directory);
  log.thread(0, 700, 'python');
  const stacks = [1, 2, 3].map(line => log.stack([{ file: 'train.py', line, function: 'main' }]));
  const rows: Row[] = [];
  const live = new Map<number, Row>();
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  while (rows.length < pairs) {
    const driver = random(4) === 0;
    const address = 512 * (1 + random(200)) + (driver ? 1e9 : 0);
    const known = live.get(address);
    if (known) {
      Object.assign(known, { endNs: log.nowNs, freeThread: 1 });
      live.delete(address);
      log.event(driver ? kinds.free : kinds.tensorFree, address, 0, 0, 1);
      continue;
    }
    const line = 1 + random(3);
    const row = { address, bytes: 1 + random(1e6), layer: driver ? 'driver' : 'tensor', line, beginNs: log.nowNs };
    live.set(address, { ...row, endNs: NaN, freeThread: -1 });
    rows.push(live.get(address)!);
    log.event(driver ? kinds.deviceAlloc : kinds.tensorAlloc, address, row.bytes, stacks[line - 1]);
  }
  log.lose(1, 5n);
  log.event(kinds.tensorOom, 0, 1 << 30, stacks[0]);
  log.end();
  return rows;
}

async function readAll(path: string, count: number, options?: LifetimeOptions): Promise<Row[]> {
  const cursor = addon.openLifetimes(path, options);
  const rows: Row[] = [];
  for (let batch = await cursor.next(count); batch; batch = await cursor.next(count)) {
    assert.ok(batch.rows > 0 && batch.rows <= count);
    for (let i = 0; i < batch.rows; i++) rows.push(rowOf(batch, i, id => cursor.site(id)!.frames[0]!.line));
  }
  assert.equal(await cursor.next(count), null);
  cursor.close();
  return rows;
}

function rowOf(batch: LifetimeBatch, i: number, lineOf: (site: number) => number): Row {
  assert.equal(batch.device[i], 0);
  assert.equal(batch.process[i], 0);
  assert.equal(CATEGORIES[batch.category[i]!], 'unnamed');
  assert.ok(batch.stepBegin[i]! >= 1);
  return {
    address: Number(batch.address[i]),
    bytes: batch.bytes[i]!,
    layer: LAYERS[batch.layer[i]!]!,
    line: lineOf(batch.site[i]!),
    beginNs: batch.beginNs[i]!,
    endNs: batch.endNs[i]!,
    freeThread: batch.freeThread[i]!,
  };
}

const BY_CATEGORY = { layer: 'tensor', groupBy: 'category', sort: 'liveBytes', descending: true } as const;
const byBegin = (rows: Row[]): Row[] => rows.sort((a, b) => a.beginNs - b.beginNs);

test('every allocation is handed out once, whatever the size of a batch', { skip }, async () => {
  const directory = folder();
  const expected = randomLog(directory, 3000);
  for (const count of [7, 1000, 1e9]) assert.deepEqual(byBegin(await readAll(directory, count)), expected);
});

test('a span leaves out what ended before and what began later', { skip }, async () => {
  const directory = folder();
  const expected = randomLog(directory, 2000);
  const [fromNs, untilNs] = [1_000_000, 2_000_000];
  const seen = expected
    .filter(row => row.beginNs <= untilNs && !(row.endNs < fromNs))
    .map(row => (row.endNs > untilNs ? { ...row, endNs: NaN, freeThread: -1 } : row));
  assert.ok(seen.length > 100 && seen.length < expected.length);
  assert.deepEqual(byBegin(await readAll(directory, 100, { fromNs, untilNs })), seen);
});

test(
  'what is alive at a moment has the names that it got later, as a session up to that moment has',
  { skip },
  async () => {
    const directory = folder();
    const log = new LogFile(directory);
    log.thread(0, 700, 'python');
    for (const address of [0x1000, 0x2000]) log.event(kinds.tensorAlloc, address, 512);
    const untilNs = log.nowNs;
    log.event(kinds.tensorAlloc, 0x3000, 512);
    log.name(0x1000n, 3, 1, 'encoder.weight');
    log.end();
    const whole = addon.open(directory);
    await whole.settle();
    const then = addon.open(directory, { untilNs });
    await then.settle(whole);
    const cursor = addon.openLifetimes(directory, { untilNs });
    cursor.addNamesOf(whole);
    const batch = await cursor.next(10);
    const names = [...batch!.category].map(category => CATEGORIES[category]);
    assert.deepEqual(names.slice(0, 2), ['parameter', 'unnamed']);
    assert.equal(batch!.modules[batch!.module[0]!], 'encoder');
    const shown = then.sites({ ...BY_CATEGORY, from: 0, to: 9 }).label;
    assert.deepEqual(new Set(names), new Set(shown));
    cursor.close();
    for (const session of [then, whole]) session.close();
  },
);

test('at the end the cursor says what failed and what was lost', { skip }, async () => {
  const directory = folder();
  randomLog(directory, 500);
  const cursor = addon.openLifetimes(directory);
  while (await cursor.next(10_000));
  const info = cursor.info();
  assert.deepEqual([info.live, info.lost.events, info.outOfMemory.length], [false, 5, 1]);
  assert.equal(info.outOfMemory[0]!.requestedBytes, 1 << 30);
  const session = addon.open(directory);
  await session.settle();
  assert.deepEqual(info.totals, session.info().totals);
  for (const id of [0, 1, 2]) assert.deepEqual(cursor.site(id), session.site(id));
  assert.equal(cursor.site(99), null);
  session.close();
  cursor.close();
});

test('one call at a time; after close() none', { skip }, async () => {
  const directory = folder();
  randomLog(directory, 500);
  const cursor = addon.openLifetimes(directory);
  const first = cursor.next(10);
  await assertRejects(cursor.next(10));
  assert.equal((await first)!.rows, 10);
  await assertRejects(cursor.next(0));
  cursor.close();
  cursor.close();
  await assert.rejects(cursor.next(10), /was closed/);
  assert.throws(() => cursor.info(), /was closed/);
  assert.throws(() => cursor.site(0), /was closed/);
  assert.throws(() => addon.openLifetimes(join(directory, 'nothing')), /^Error: [^\n]+$/);
});

test('no end of a worker or a process hangs or crashes while a batch is read', { skip }, () => {
  const directory = folder();
  randomLog(directory, 20_000);
  const load = `const m = { exports: {} }; process.dlopen(m, ${JSON.stringify(addonFile)});
    const cursor = m.exports.openLifetimes(${JSON.stringify(directory)});`;
  const ends = {
    exited: `${load} cursor.next(1e6); process.exit(0);`,
    closed: `${load} cursor.next(1e6).then(() => {}, () => {}); cursor.close();`,
    leftAlone: `${load} cursor.next(1e6);`,
    workerEnded: `const { Worker } = require('node:worker_threads');
      const read = ${JSON.stringify(`${load} cursor.next(1e6); require('node:worker_threads').parentPort.postMessage(1);`)};
      const w = new Worker(read + 'setInterval(() => {}, 10);', { eval: true });
      w.on('message', () => w.terminate());`,
  };
  for (const [name, code] of Object.entries(ends)) {
    const run = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', timeout: 60_000 });
    assert.equal(`${run.status} ${run.signal} ${run.stderr}`, '0 null ', name);
  }
});

test('segments and blocks arrive in columns', { skip }, async () => {
  const directory = folder();
  const log = new LogFile(directory);
  log.thread(0, 700, 'python');
  const stack = log.stack([{ file: 'train.py', line: 7, function: 'main' }]);
  log.event(kinds.deviceAlloc, 0x7f0000000000n, 2 << 20, stack);
  log.event(kinds.reserved, 0, 2 << 20);
  log.event(kinds.tensorAlloc, 0x7f0000000400n, 512, stack);
  log.event(kinds.tensorAlloc, 0x7f0000100000n, 1024, stack);
  log.event(kinds.deviceAlloc, 0x7e0000000000n, 4096, stack, 0, 1);
  log.end();
  const trace = addon.open(directory);
  await trace.settle();
  const map = trace.segments({ process: 0, device: 0 });
  assert.deepEqual([map.source, map.segmentsLeftOut, [...map.address]], ['framework', 0, [0x7f0000000000n]]);
  assert.deepEqual([...map.bytes, ...map.liveBytes, ...map.largestGapBytes], [2 << 20, 1536, (1 << 20) - 1024]);
  assert.deepEqual([...map.stream, ...map.mapped], [0n, 0]);
  assert.equal(trace.site(map.site[0]!)!.layer, 'driver');
  const { blocks } = map;
  assert.deepEqual([blocks.rows, blocks.leftOut, blocks.outside], [2, 0, 0]);
  assert.deepEqual([...blocks.segment, ...blocks.offsetBytes, ...blocks.bytes], [0, 0, 0x400, 0x100000, 512, 1024]);
  assert.deepEqual([...blocks.ageSteps, ...blocks.category], [0, 0, 7, 7]);
  const few = trace.segments({ process: 0, device: 0, maxBlocks: 1 }).blocks;
  assert.deepEqual([[...few.bytes], few.leftOut, few.leftOutBytes], [[1024], 1, 512]);
  const other = trace.segments({ process: 0, device: 1 });
  assert.deepEqual([other.source, [...other.bytes], other.blocks.rows], ['driver', [4096], 0]);
  assertThrows(() => trace.segments({ device: 0 } as never));
  trace.close();
});
