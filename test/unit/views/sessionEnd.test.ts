// A run that the command gpu-memtrace saves has two ends: its program ends, and its file takes the recording's place.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SessionParts } from '../../../extension/views/session/session';
import { importWith } from '../fakeVscode';

class EventEmitter<T> {
  private readonly listeners: ((value: T) => void)[] = [];
  readonly event = (listener: (value: T) => void): object => ({ dispose: this.listeners.push(listener) });
  fire = (value: T): void => this.listeners.forEach(listener => listener(value));
  dispose(): void {}
}
const nothing = (): undefined => undefined;
const parts = {
  EventEmitter,
  env: { language: 'en' },
  l10n: { t: String },
  workspace: { isTrusted: true },
  window: {},
};

test('the end of a run is shown before its file is read, whichever is seen first', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'end-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const order: string[] = [];
  let readRest = nothing as () => void;
  const engine = {
    open: ({ opening }: { opening: () => { path: string } }) => Promise.resolve(order.push(`open ${opening().path}`)),
    close: nothing,
    request: (method: string) => {
      order.push(method);
      return method === 'readRest' ? new Promise<void>(done => (readRest = done)) : Promise.resolve();
    },
  };
  const recording = {
    directory,
    facts: { command: ['python', 'a.py'], cwd: '/', processes: [] },
    attached: true,
    end: () => ({ exitCode: 0, failed: false, sentence: () => 'It ended.' }),
    watch: () => nothing,
    lastOutput: () => Promise.resolve(''),
  };
  const { Session } = await importWith(parts, () => import('../../../extension/views/session/session'));
  const session = new Session('a.py', {
    ...{ dist: '/', engine, recorder: { resume: () => recording }, log: { info: nothing, error: console.error } },
  } as unknown as SessionParts);
  session.onDidChange(() => session.phase === 'ended' && order.at(-1) !== 'ended' && order.push('ended'));
  assert.ok(await session.resume({ directory, title: 'a.py', terminal: null, byCommand: true }));
  const continued = session.continueFrom('/x/a.gputrace');
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.deepEqual(order, [`open ${directory}`, 'readRest'], 'the rest is being read');
  readRest();
  await continued;
  assert.deepEqual(order.slice(2), ['findEnding', 'ended', 'open /x/a.gputrace', 'readToEnd']);
  assert.equal(session.file, '/x/a.gputrace');
});

test('a saved trace says how its program ended', async () => {
  const { Session } = await importWith(parts, () => import('../../../extension/views/session/session'));
  const read = async (session: object): Promise<unknown[]> => {
    const info = { session, processes: [], startRealtimeMs: 0, totals: [], notes: [], pauses: [] };
    const engine = {
      open: ({ news }: { news: (facts: object) => void }) => Promise.resolve(news({ info })),
      close: nothing,
      request: () => Promise.resolve(),
    };
    const saved = new Session('a', { dist: '/', engine, recorder: {}, log: console } as unknown as SessionParts);
    await (
      await saved.openFile('/x/a.gputrace')
    ).read;
    return [saved.phase, saved.crashed, saved.stopped];
  };
  const endedWith = (exitCode: number) => read({ processes: [{ pid: 1, exitCode }] });
  assert.deepEqual(await read({}), ['ended', false, false]);
  assert.deepEqual(await endedWith(0), ['ended', false, false]);
  assert.deepEqual(await endedWith(1), ['ended', true, false]);
  assert.deepEqual(await endedWith(130), ['ended', false, true]);
  assert.deepEqual(await endedWith(143), ['ended', false, true]);
});
