// Pages beside the trace's: one that was closed while it read stays silent, and a reading that fails is said.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Page {
  posted: { type: string; sentence?: string }[];
  dispose(): void;
  receive(message: object): void;
}

/** A panel as VS Code makes it: whoever touches one that is closed gets an error. */
function panelFor(page: Page): object {
  let closed = false;
  const alive = <T>(value: T): T => {
    if (closed) throw new Error('Webview is disposed');
    return value;
  };
  const webview = {
    asWebviewUri: String,
    onDidReceiveMessage: (receive: Page['receive']) => (page.receive = receive),
    postMessage: (message: Page['posted'][number]) => page.posted.push(message),
  };
  return {
    onDidDispose: (ended: () => void) =>
      (page.dispose = () => {
        closed = true;
        ended();
      }),
    get webview() {
      return alive(webview);
    },
    get visible() {
      return alive(true);
    },
  };
}

const page: Page = { posted: [], dispose: () => undefined, receive: () => undefined };
const vscode = {
  ViewColumn: {},
  Uri: { joinPath: (...parts: unknown[]) => parts.join('/') },
  env: { language: 'en' },
  l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, i: string) => String(values[+i])) },
  window: { createWebviewPanel: () => panelFor(page) },
};
const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
const { _load: load } = loader;
loader._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function jobPage(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'job-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'traces'));
  page.posted = [];
  const { JobPage } = await import('../../../extension/views/page/jobPage');
  const { TraceEngine } = await import('../../../extension/engine/traceEngine');
  new JobPage(folder, new TraceEngine(null as never, () => undefined), 'media' as never);
  return folder;
}

/** Errors of promises that nobody waits for. */
async function unhandledOf(work: () => void): Promise<unknown[]> {
  const found: unknown[] = [];
  const heard = (error: unknown): unknown => found.push(error);
  process.on('unhandledRejection', heard);
  work();
  for (let turn = 0; turn < 50; turn++) await setImmediate();
  process.off('unhandledRejection', heard);
  return found;
}

test('a job page that is closed while it reads does nothing more', async t => {
  await jobPage(t);
  const unhandled = await unhandledOf(() => {
    page.receive({ type: 'ready' });
    page.dispose();
  });
  assert.deepEqual(unhandled, []);
  assert.deepEqual(page.posted, []);
});

test('a job page says what could not be read, and reads again when it is wanted', async t => {
  const folder = await jobPage(t);
  const trace = join(folder, 'traces/x.gputrace');
  writeFileSync(trace, 'x');
  const readings = [];
  for (let reading = 0; reading < 2; reading++) {
    assert.deepEqual(await unhandledOf(() => page.receive({ type: 'ready' })), []);
    readings.push(page.posted.length);
  }
  rmSync(trace);
  assert.deepEqual(await unhandledOf(() => page.receive({ type: 'ready' })), []);
  assert.deepEqual(readings, [1, 2]);
  assert.deepEqual(
    page.posted.map(({ type }) => type),
    ['problem', 'problem', 'problem'],
  );
  const [why, , nothing] = page.posted.map(({ sentence }) => sentence);
  assertSentence(why?.split(': ')[0], 'what follows is Node.js’s');
  assertSentence(nothing);
});

test('a run that is chosen while another one is read is shown', async t => {
  await jobPage(t);
  await unhandledOf(() => {
    page.receive({ type: 'ready' });
    page.receive({ type: 'showRun', run: 'b' });
  });
  assert.equal(page.posted.length, 2);
});
