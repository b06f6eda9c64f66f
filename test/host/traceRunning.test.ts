// Attaching, in VS Code: the picker of processes, the session in the panel, detaching.
import * as assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, PAGE, picture, reached, rowAt, writeScript } from './pageActions';
import { attribute, click, dismissPicker, fill, press, texts, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const dist = join(vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '', 'dist');
const tracer = join(dist, 'native/gpu-memtrace-uprobe');
const PICKER = '.quick-input-widget:not([style*="display: none"])';
const ROWS = `${PICKER} .quick-input-list .monaco-list-row`;
const NOTES = '.notification-list-item-message';

const INPUT = `${PICKER} input[type=text]`;
const listed = async (): Promise<string> => (await texts(ROWS)).join('\n');
const attach = (...given: unknown[]): Promise<unknown> =>
  Promise.resolve(vscode.commands.executeCommand('gpuMemoryTrace.attach', ...given));
const notified = (expected: RegExp): Promise<string> =>
  until(`a notification ${expected}`, async () => (await texts(NOTES)).find(text => expected.test(text)));

/**
 * Opens the list of programs, and again where a late change of the window's focus closed it (a view that comes into sight
 * takes the focus when its page is ready).
 */
async function openList(): Promise<{ list: string; done: Promise<unknown> }> {
  for (let attempt = 1; ; attempt++) {
    let closed = false;
    const done = attach().finally(() => (closed = true));
    const list = await until('the list', async () => (closed ? 'closed' : listed()));
    if (list !== 'closed') return { list, done };
    if (attempt === 3) throw new Error('The list was closed three times.');
  }
}

let tested: boolean | undefined;
const canAttach = (): boolean => (tested ??= spawnSync(tracer, ['self-test']).status === 0);

/** Allocates 2 MB each 50 ms, once it has had the driver for a while. */
const JOB = `print("ready", flush=True)
time.sleep(float(sys.argv[1]))
while True:
    allocate(ctypes.byref(address), ctypes.c_size_t(2 << 20)); time.sleep(0.05)
`;

describe('Attaching in VS Code', () => {
  let job: (ChildProcess & { pid: number }) | undefined;
  let file = '';

  before(async function () {
    if (!existsSync(tracer)) return this.skip();
    await freshPage();
    await vscode.commands.executeCommand('notifications.clearAll');
    await until('the page', async () => (await texts(PAGE)).length > 0);
  });
  after(() => job?.kill('SIGKILL'));

  inLong(it)('says what to do where no program uses CUDA', async function () {
    const { done } = await openList();
    // Programs of other tests come and go.
    const refreshed = async (): Promise<string | null> => {
      const found = await listed();
      if (found !== '' && !found.includes('PID ')) return found;
      await click(`${PICKER} .codicon-refresh`);
      return null;
    };
    const list = await until('no program', refreshed, 40_000).catch(listed);
    await picture('attach-empty');
    await dismissPicker();
    await done;
    if (list.includes('PID ')) return this.skip(); // somebody else's program uses CUDA all the while
    assert.match(list, /CUDA .*refresh/s);
  });

  it('refuses a process without CUDA in one sentence', async () => {
    await attach(process.pid);
    await vscode.commands.executeCommand('notifications.showList');
    assertSentence((await notified(/libcuda\.so/)).replace(/\(.*\) has/, '(node) has'));
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('lists a program that loaded the driver while the list is open', async () => {
    const { list, done } = await openList();
    assert.doesNotMatch(list, /attach_me\.py/);
    file = writeScript('attach_me.py', JOB);
    job = spawn('python3', [file, '1'], {
      env: { ...process.env, LD_LIBRARY_PATH: join(dist, '../build/simulator') },
      stdio: ['ignore', 'pipe', 'inherit'],
    }) as typeof job;
    await new Promise(ready => job?.stdout?.once('data', ready));
    await click(`${PICKER} .codicon-refresh`);
    const text = await until('the program', async () => {
      const found = await listed();
      return found.includes('attach_me.py') ? found : null;
    });
    assert.match(text, new RegExp(`PID ${job?.pid} · `));
    await picture('attach-picker');
    await dismissPicker();
    await done;
  });

  it('shows its allocations, and leaves it running', async function () {
    if (!canAttach()) return this.skip();
    const { done } = await openList();
    await fill(INPUT, 'attach_me');
    await until('the program', async () => (await listed()).includes('attach_me.py'));
    await press(INPUT, 'Enter');
    await done;
    await reached('running');
    await rowAt(file, FIRST + 3);
    assertSentence(await attribute('[data-action=stop]', 'aria-label'));
    await picture('attached');
    await click('[data-action=stop]');
    await reached('ended');
    assert.match((await texts(PAGE)).join(' '), /Detached\. /);
    assert.ok(job?.exitCode === null && job.signalCode === null);
  });

  it('tells that the program ended', async function () {
    if (!canAttach()) return this.skip();
    await attach(job?.pid);
    await reached('running');
    job?.kill('SIGKILL');
    await reached('ended');
    assert.match((await texts(PAGE)).join(' '), /program ended\./);
  });
});
