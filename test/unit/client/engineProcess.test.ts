// The engine's process: what it answers, and what is left of it when it is killed.
import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, type TestContext } from 'node:test';
import { EngineProcess, startEngine, type TraceListener } from '../../../extension/client/engineProcess';
import { ownArrays } from '../../../extension/client/ownArrays';
import type { TraceFacts } from '../../../extension/protocol/requests/engineRequests';
import type { SiteWindow } from '../../../extension/protocol/trace';
import { kinds, LogFile } from '../addon/logFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertRejects, assertSentence } = sentencesOf(__filename);

const dist = resolve('dist');
const folder = mkdtempSync(join(tmpdir(), 'gmt-engine-'));
after(() => rmSync(folder, { recursive: true }));

/** Of a program that runs: this one. */
class Running implements TraceListener {
  facts: Partial<TraceFacts> = {};
  readonly sentences: string[] = [];
  readonly log: LogFile;
  private readonly stack: number;

  constructor(
    readonly trace: number,
    readonly directory = mkdtempSync(join(folder, 'trace-')),
  ) {
    this.log = new LogFile(directory, true);
    this.log.thread(0, 700, 'python');
    this.stack = this.log.stack([{ file: '/home/ada/train.py', line: 7, function: 'main' }]);
    this.allocate(6);
  }
  allocate(count: number): void {
    for (let i = 0; i < count; i++) this.log.event(kinds.tensorAlloc, 0x1000 * ++this.blocks, 100, this.stack);
  }
  blocks = 0;
  readonly opening = () => ({
    ...{ trace: this.trace, path: this.directory, directory: this.directory },
    ...{ findsHolders: false, ended: false },
  });
  readonly news = (facts: Partial<TraceFacts>): void => void (this.facts = { ...this.facts, ...facts });
  readonly lost = (sentence: string): void => void this.sentences.push(sentence);
  async events(count: number): Promise<void> {
    for (const end = Date.now() + 120_000; this.facts.info?.events !== count; await sleep(5))
      assert.ok(Date.now() < end, `${this.facts.info?.events} events`);
  }
}

function setUp(t: TestContext): { engine: EngineProcess; died: string[]; kill(): void } {
  const died: string[] = [];
  const listener = { log: () => undefined, died: (sentence: string) => died.push(sentence) };
  const engine = new EngineProcess(() => startEngine(dist, undefined), listener);
  t.after(() => engine.dispose());
  return { engine, died, kill: () => process.kill(engine.pid ?? 0, 'SIGKILL') };
}

async function lines(engine: EngineProcess, { trace }: Running): Promise<unknown[]> {
  const order = { groupBy: 'line', sort: 'liveBytes', descending: true } as const;
  const params = { layer: 'tensor', ...order, from: 0, to: 10 } as const;
  const question = { trace, title: '', method: 'sites', params, others: [] } as const;
  const rows = (await engine.request('answer', { ...question, others: [] })) as SiteWindow;
  return [rows.file, rows.line, rows.liveBytes, rows.liveCount];
}

test('a trace is read in another process, which tells what is new of its own accord', async t => {
  const { engine } = setUp(t);
  const running = new Running(1);
  assert.equal(engine.pid, undefined, 'it is started when it is needed');
  await engine.open(running);
  await running.events(6);
  running.allocate(2);
  await running.events(8);
  assert.deepEqual(await lines(engine, running), [
    ['/home/ada/train.py'],
    Uint32Array.of(7),
    Float64Array.of(800),
    Float64Array.of(8),
  ]);
  await assertRejects(engine.request('save', { trace: 2, file: '/x' }));
});

test('news in one packet with the answer to opening a trace is newer than that answer', async t => {
  const script = join(folder, 'engine.cjs');
  const answer = "{ type: 'answer', id, ok: true, value: { ending: null, hues: [1] } }";
  const news = "{ type: 'news', trace: 1, facts: { hues: [2] } }";
  const batch = `{ type: 'batch', messages: [${answer}, ${news}] }`;
  writeFileSync(script, `process.on('message', ([{ id }]) => process.send(${batch}));`);
  const engine = new EngineProcess(() => fork(script), { log: () => undefined, died: () => undefined });
  t.after(() => engine.dispose());
  const running = new Running(1);
  await engine.open(running);
  assert.deepEqual(running.facts, { ending: null, hues: [2] });
});

test('one that is killed is followed by another, which goes on where it was', async t => {
  const { engine, died, kill } = setUp(t);
  const running = new Running(1);
  await engine.open(running);
  await running.events(6);
  const [pid, rows] = [engine.pid, await lines(engine, running)];
  kill();
  const pending = lines(engine, running);
  // What it was asked is answered, perhaps before the new one has read as far as the old one had.
  let again = await pending;
  for (const end = Date.now() + 20_000; !isDeepStrictEqual(again, rows) && Date.now() < end; await sleep(5))
    again = await lines(engine, running);
  assert.deepEqual(again, rows);
  // A request that is on its way then may be what shows it first.
  assertSentence(died.join('\n').replace(/\((SIGKILL|write EPIPE)\)/, '(how)'));
  assert.notEqual(engine.pid, pid);
  running.allocate(1);
  await running.events(7);
  assert.deepEqual(running.sentences, []);
});

test('one that dies again and again is not started any more, and says so', async t => {
  const { engine, died, kill } = setUp(t);
  const running = new Running(1);
  for (let death = 1; death <= 3; death++) {
    if (death === 1) await engine.open(running);
    await lines(engine, running);
    kill();
    for (const end = Date.now() + 20_000; died.length < death && Date.now() < end; await sleep(5));
  }
  assertSentence(died[2] ?? '');
  assert.deepEqual(running.sentences, died.slice(2));
  await assertRejects(lines(engine, running));
});

test('what a process dies of is asked twice at most', async t => {
  const { engine, died } = setUp(t);
  const dies = new EngineProcess(
    () => {
      const child = startEngine(dist, undefined);
      child.once('spawn', () => child.kill('SIGKILL'));
      return child;
    },
    { log: () => undefined, died: sentence => died.push(sentence) },
  );
  await assert.rejects(dies.request('problem', undefined), /ended \(SIGKILL\)/);
  assert.equal(died.length, 2);
  dies.dispose();
  assert.equal(await engine.request('problem', undefined), null);
});

test('it ends with the window, though that is killed', async t => {
  const code = `const { fork } = require('node:child_process');
    const child = fork(${JSON.stringify(join(dist, 'engine.js'))}, [${JSON.stringify(dist)}], { serialization: 'advanced' });
    child.send([{ id: 1, method: 'problem', params: undefined }]);
    child.on('message', () => console.log(child.pid));`;
  const host = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => host.kill('SIGKILL'));
  const pid = Number(await new Promise(done => host.stdout.once('data', done)));
  assert.ok(existsSync(`/proc/${pid}`));
  host.kill('SIGKILL');
  for (const end = Date.now() + 20_000; existsSync(`/proc/${pid}`); await sleep(5)) assert.ok(Date.now() < end);
});

test('typed arrays of an answer have memory of their own', () => {
  const packet = new ArrayBuffer(8192);
  const value = { live: new Float64Array(packet, 16, 3), map: { site: new Uint32Array(packet, 4, 2) }, file: ['x'] };
  const own = ownArrays(value) as typeof value;
  assert.deepEqual([own.live.buffer.byteLength, own.map.site.buffer.byteLength], [24, 8]);
  assert.deepEqual(own.file, ['x']);
});
