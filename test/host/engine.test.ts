// What reads traces is a process of its own: the extension host has no native code, and a death of the engine costs nothing.
import * as assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { attempt } from '../../extension/base/attempt';
import { linesOf } from '../sentences.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, reached, rowAt, trace, workspace, writeScript } from './pageActions';
import { shows, texts, until } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const JOB = `allocate(ctypes.byref(address), ctypes.c_size_t(${20 * MB}))
open("engine_job.pid", "w").write(str(os.getpid()))
while not os.path.exists("engine_job.go"): time.sleep(0.02)
allocate(ctypes.byref(address), ctypes.c_size_t(${3 * MB}))
time.sleep(60)
`;
const NOTES = '.notification-list-item-message';

const read = (file: string): string => attempt(() => readFileSync(file, 'utf8'), '');
const addonsOf = (pid: number): string[] => read(`/proc/${pid}/maps`).match(/\/dist\/native\/\S*\.node$/gm) ?? [];
/** The engines that this process has started. */
const engines = (): number[] =>
  readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid) && read(`/proc/${pid}/cmdline`).includes('dist/engine.js'))
    .filter(pid => read(`/proc/${pid}/status`).includes(`PPid:\t${process.pid}\n`))
    .map(Number);

describe('The engine', () => {
  const file = join(workspace, 'engine_job.py');
  before(freshPage);
  after(freshPage);

  it('has the native code, and the extension host has none', async () => {
    writeScript('engine_job.py', JOB);
    await trace(file);
    await reached('running');
    await rowAt(file, FIRST);
    const [pid = 0, ...others] = engines();
    assert.deepEqual(others, []);
    assert.equal(new Set(addonsOf(pid)).size, 1);
    assert.deepEqual(addonsOf(process.pid), []);
  });

  it('is followed by another one when it is killed; the job goes on, and so does what is shown', async () => {
    await vscode.commands.executeCommand('notifications.clearAll');
    const before = await rowAt(file, FIRST);
    const job = read(join(workspace, 'engine_job.pid'));
    const [pid = 0] = engines();
    process.kill(pid, 'SIGKILL');
    await vscode.commands.executeCommand('notifications.showList');
    const notes = await until('a sentence on it', async () => linesOf((await texts(NOTES)).join('\n'), /\(SIGKILL\)/));
    assertSentence(notes);
    const next = await until('another engine', () => engines().find(other => other !== pid));
    await until('its native code', () => new Set(addonsOf(next)).size === 1);
    assert.deepEqual((await rowAt(file, FIRST)).cells.live, before.cells.live);
    writeFileSync(join(workspace, 'engine_job.go'), '');
    await rowAt(file, FIRST + 3);
    await shows('[id*="gpuMemoryTrace.live"]', /23 MiB/);
    await reached('running');
    assert.match(read(`/proc/${job}/cmdline`), /engine_job\.py/);
    assert.deepEqual(addonsOf(process.pid), []);
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
  });
});
