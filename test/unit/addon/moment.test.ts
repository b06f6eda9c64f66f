// Sessions up to a moment, and questions about some of the live blocks.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { NativeTrace } from '../../../extension/native/native';
import type { AllocationQuery, SiteQuery } from '../../../extension/protocol/trace';
import { questionFor, TimelineData } from '../../../webview/explorer/timeline/data';
import { addon, outdated } from './builtAddon';
import { kinds, LogFile } from './logFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertThrows } = sentencesOf(__filename);

const skip = outdated;
const folders: string[] = [];
function folder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'gmt-moment-')));
  return folders.at(-1)!;
}
after(() => folders.forEach(path => rmSync(path, { recursive: true })));

const sites: SiteQuery = {
  layer: 'tensor',
  groupBy: 'line',
  sort: 'liveBytes',
  descending: true,
  from: 0,
  to: 100,
};
const blocks: AllocationQuery = { sort: 'address', descending: false, from: 0, to: 100 };

/** Events at 0, 1,000, 2,000, ... ns: six blocks of two lines, the second and the third of which are freed. */
function sample(directory: string, alive = false): LogFile {
  const log = new LogFile(directory, alive);
  log.thread(0, 700, 'python');
  const first = log.stack([{ file: '/home/ada/model/net.py', line: 20, function: 'forward' }]);
  const second = log.stack([{ file: '/home/ada/train.py', line: 7, function: 'main' }]);
  for (let i = 0; i < 6; i++) log.event(kinds.tensorAlloc, 0x1000 * (i + 1), 100 * (i + 1), i < 3 ? first : second);
  log.event(kinds.tensorFree, 0x2000, 200);
  log.event(kinds.tensorFree, 0x3000, 300);
  return log;
}

async function opened(path: string, untilNs?: number): Promise<NativeTrace> {
  const session = untilNs === undefined ? addon.open(path) : addon.open(path, { untilNs });
  await session.settle();
  return session;
}

test('a trace that grows is read when it is told to, and stands still in between', { skip }, async () => {
  const directory = folder();
  const log = sample(directory, true);
  const free = await opened(directory);
  const session = await opened(directory);
  const events = (): number => session.info().events;
  const next = (): Promise<boolean> => new Promise(found => session.next(found));
  while (!(await next()) || events() < 8);
  const revision = session.revision();
  assert.equal(events(), 8);
  const stack = log.stack([{ file: '/home/ada/train.py', line: 9, function: 'main' }]);
  log.event(kinds.tensorAlloc, 0x9000, 900, stack);
  for (const end = Date.now() + 20_000; free.info().events < 9 && Date.now() < end;)
    await new Promise(done => setTimeout(done, 10));
  assert.equal(free.info().events, 9, 'another session has read the event');
  assert.deepEqual([events(), session.revision()], [8, revision]);
  while (!(await next()) || session.revision() === revision);
  assert.equal(events(), 9);
  let calls = 0;
  session.next(() => calls++);
  await new Promise(done => setTimeout(done, 50));
  assert.equal(calls, 0, 'nothing is new');
  log.event(kinds.tensorAlloc, 0xa000, 900, stack);
  await session.settle();
  assert.equal(events(), 10, 'who waits for all of it gets all of it');
  for (const one of [free, session]) one.close();
});

test('a session up to a time answers as of then, from a directory and from a file', { skip }, async () => {
  const directory = folder();
  sample(directory).end();
  const whole = await opened(directory);
  const file = join(directory, 'run.gputrace');
  await whole.save(file, '{}');
  for (const path of [directory, file]) {
    const then = await opened(path, 6500);
    const info = then.info();
    assert.deepEqual([info.live, info.events, info.durationNs, info.processes[0]!.ended], [false, 7, 6000, false]);
    assert.deepEqual([...then.allocations(blocks).address], [0x1000n, 0x3000n, 0x4000n, 0x5000n, 0x6000n]);
    assert.deepEqual([...then.sites(sites).liveBytes], [1500, 400]);
    assert.deepEqual(then.site(0), whole.site(0));
    then.close();
  }
  assert.deepEqual([...whole.sites(sites).liveBytes], [1500, 100]);
  whole.close();
});

test('a session up to a time of a running process stands still there', { skip }, async () => {
  const directory = folder();
  const log = sample(directory, true);
  const then = await opened(directory, 5000);
  assert.deepEqual([then.info().events, then.info().live], [6, false]);
  const revision = then.revision();
  for (let i = 0; i < 100; i++) log.event(kinds.tensorAlloc, 0x10000 + i, 1);
  await then.settle();
  assert.deepEqual([then.info().events, then.revision()], [6, revision]);
  then.close();
  log.close();
});

test('a time that is none is refused in a sentence', { skip }, () => {
  const directory = folder();
  sample(directory).end();
  const open = (options: unknown): unknown => addon.open(directory, options as { untilNs: number });
  assertThrows(() => open({ untilNs: 'now' }));
  assertThrows(() => open(null));
});

test('a key is the same in every session, and tells stacks apart', { skip }, async () => {
  const directory = folder();
  sample(directory).end();
  const [whole, then] = [await opened(directory), await opened(directory, 3000)];
  const keys = whole.sites({ ...sites, groupBy: 'site' }).key;
  assert.equal(new Set(keys).size, 2);
  for (const key of keys) assert.match(key, /^[0-9a-f]{16}$/);
  assert.deepEqual(new Set(then.sites({ ...sites, groupBy: 'site' }).key), new Set(keys));
  assert.equal(whole.site(whole.sites(sites).id[0]!)!.key, whole.sites(sites).key[0]);
  whole.close();
  then.close();
});

test('blocks and rows are chosen by birth, age, size and text', { skip }, async () => {
  const directory = folder();
  sample(directory).end();
  const trace = await opened(directory);
  const born = { bornFromNs: 3000, bornToNs: 5000 };
  assert.deepEqual([...trace.allocations({ ...blocks, ...born }).bytes], [400, 500]);
  assert.deepEqual([...trace.sites({ ...sites, ...born }).liveBytes], [900]);
  assert.equal(trace.sites({ ...sites, ...born, includeDead: true }).total, 2);
  assert.deepEqual([...trace.allocations({ ...blocks, filter: 'TRAIN.py >450' }).bytes], [500, 600]);
  assert.equal(trace.allocations({ ...blocks, filter: 'age>0steps' }).total, 0);
  assert.equal(trace.sites({ ...sites, filter: 'age<1step' }).sumLiveBytes, 1600);
  assert.equal(trace.sites({ ...sites, category: 'parameter' }).total, 0);
  trace.close();
});

test('groups by module are files; groups by category know only what lives', { skip }, async () => {
  const directory = folder();
  sample(directory).end();
  const trace = await opened(directory);
  assert.deepEqual(trace.sites({ ...sites, groupBy: 'file' }).label, ['/home/ada/train.py', '/home/ada/model/net.py']);
  const rows = trace.sites({ ...sites, groupBy: 'category' });
  assert.deepEqual([rows.label, [...rows.liveBytes], [...rows.liveCount]], [['unnamed'], [1600], [4]]);
  for (const column of [rows.peakBytes, rows.allocations, rows.frees, rows.allocatedBytes, rows.growth]) {
    assert.deepEqual([...column], [NaN]);
  }
  assert.deepEqual(
    [...rows.spark],
    Array.from({ length: 16 }, () => NaN),
  );
  trace.close();
});

test(
  'what the timeline shows at a pointed time is what was alive at the moment that a click there shows',
  { skip },
  async () => {
    const sample = 'media/sample/finetune.gputrace';
    const whole = await opened(sample);
    const toNs = Math.ceil(whole.info().durationNs);
    const question = questionFor({ fromNs: 0, toNs }, 240, { process: -1, device: -1 });
    const data = new TimelineData(question, question.series.map(whole.timeline.bind(whole)));
    for (let at = 0.5; at < 12; at++) {
      const { timeNs, bytes } = data.momentAt('tensor', (at / 12) * toNs);
      const then = await opened(sample, Math.floor(timeNs));
      assert.equal(then.sites(sites).sumLiveBytes, bytes, `at ${timeNs} ns`);
      then.close();
    }
    whole.close();
  },
);
