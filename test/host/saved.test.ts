const { it, assertSentence } = sentencesOf(__filename);
// Files in VS Code: saved traces and memory snapshots, opened from its Explorer by mouse and by keyboard; what their
// timelines mark, filters by age and thread, two traces beside each other, and saving.
import * as assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { linesOf } from '../sentences.mjs';
import { sentencesOf } from './hostSentences';
import { freshPage, inThemes, reached, workspace } from './pageActions';
import { attribute, click, clickAt, fill, press, rows, shows, texts, until, value, words } from './window';

const root = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '';
const LIST = '.explorer-folders-view .monaco-list';
const QUESTION = '.quick-input-widget:not([style*="display: none"])';
const INPUT = `${QUESTION} input[type=text]`;
const SIMPLE = 'files.simpleDialog.enable';
const FILTER = '[data-control=filter] input';
/** Line of memory_snapshot.py's invented program that leaks. */
const LEAK = 99;

const golden = (name: string, as = name): vscode.Uri => {
  const file = join(workspace, as);
  copyFileSync(join(root, 'test/golden/trace', name), file);
  return vscode.Uri.file(file);
};
const row = (uri: vscode.Uri): string => `${LIST}-row[aria-label*="${uri.path.split('/').at(-1)}"]`;
const run = (command: string, ...given: unknown[]): Promise<unknown> =>
  Promise.resolve(vscode.commands.executeCommand(command, ...given));
const heading = (expected: RegExp): Promise<string> => shows('.list-head h2', expected);

async function inExplorer(uri: vscode.Uri): Promise<void> {
  await run('workbench.action.closeAllEditors');
  await run('workbench.files.action.refreshFilesExplorer');
  await run('revealInExplorer', uri);
  await until(`${uri.path} in the Explorer`, async () => (await texts(row(uri))).length > 0);
}
/** The page of an editor, not that of the side panel. */
async function opened(uri: vscode.Uri, phase: string): Promise<void> {
  const name = uri.path.split('/').at(-1);
  await until(`the page of ${name}`, async () => (await words('[data-value=title]')) === name);
  await reached(phase);
}
const active = (): string => {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputCustom ? input.viewType : '';
};

describe('Files in VS Code', () => {
  before(async () => {
    await freshPage();
    await vscode.workspace.getConfiguration().update(SIMPLE, true, vscode.ConfigurationTarget.Global);
  });
  after(async () => {
    await vscode.workspace.getConfiguration().update(SIMPLE, undefined, vscode.ConfigurationTarget.Global);
    await run('workbench.action.closeAllEditors');
    await freshPage();
  });
  it('a saved trace opens by a double click', async () => {
    const file = golden('two_processes.gputrace');
    await inExplorer(file);
    await clickAt(row(file), 60, 8, true);
    await opened(file, 'ended');
    assert.equal(active(), 'gpuMemoryTrace.savedTrace');
    assert.ok((await rows()).length > 0);
  });

  inLong(it)('its timeline marks where memory ran out: by mouse and by keyboard', async () => {
    const mark = '[data-mark=out-of-memory]';
    await click(mark);
    await heading(/^Live .* memory /);
    await click('[data-action=moment-now]');
    await heading(/^Live (?!.* memory )/);
    await press(mark, 'Enter');
    await heading(/^Live .* memory /);
    await press('[data-action=moment-now]', 'Enter');
    await heading(/^Live (?!.* memory )/);
    assert.match(await words('[data-notice=losses]'), /5 dropped events/);
  });

  inLong(it)(
    'a saved trace opens by Enter; its timeline has steps and a collection, which shows its moment',
    async () => {
      const file = golden('steps.gputrace', 'by_key.gputrace');
      await inExplorer(file);
      await press(LIST, 'Enter');
      await opened(file, 'ended');
      assert.equal(await attribute('[data-action=axis]', 'aria-pressed'), 'true');
      await until('the collection', async () => (await texts('[data-mark=collection]:not([hidden])')).length === 1);
      // The peak lies beside it: while the page takes its place, a click may meet that.
      await until('its moment', async () => {
        if (/^Live .* 1\d/.test((await texts('.list-head h2')).join())) return true;
        await click('[data-mark=collection]');
        return false;
      });
      await press('[data-action=moment-now]', 'Enter');
      await press('[data-action=axis]', 'Enter');
      await until('times', async () => (await attribute('[data-action=axis]', 'aria-pressed')) === 'false');
      await click('[data-action=axis]');
    },
  );

  inLong(it)('filters by age and by thread', async () => {
    const bytes = async (line: number): Promise<string> =>
      (await rows()).find(one => one.line === line)?.cells.live ?? '';
    await until('12 KiB', async () => (await bytes(12)) === '12 KiB');
    await fill(FILTER, 'age>5steps');
    await until('fewer bytes', async () => /^[89]\.\d\d KiB$/.test(await bytes(12)));
    await fill(FILTER, 'age<=5steps');
    await until('the rest of them', async () => /^[34]\.\d\d KiB$|^2\.5/.test(await bytes(12)));
    await fill(FILTER, 'no-such-thread');
    await shows('.list .none', /No row/);
    await press(FILTER, 'Escape');
    await until('12 KiB', async () => (await bytes(12)) === '12 KiB');
  });

  it('a memory snapshot opens with Open With…, by mouse', async () => {
    const file = vscode.Uri.file(join(workspace, 'snapshot.pickle'));
    execFileSync('python3', [join(root, 'test/workloads/snapshots/memory_snapshot.py'), file.fsPath]);
    await inExplorer(file);
    void run('explorer.openWith', file); // the context menu itself is VS Code's, and swallows clicks now and then
    await until('the editors', async () => /snapshot/.test(await words(`${QUESTION} .monaco-list-row`)));
    await click(`${QUESTION} .monaco-list-row:has-text("snapshot")`);
    await opened(file, 'ended');
    assert.equal(active(), 'gpuMemoryTrace.snapshot');
    assertSentence((await shows('[data-value=detail]', /snapshot/)).replace(/\w{3} \d.*$/, 'T'));
    await shows('[data-finding][data-verdict=leak]', new RegExp(`train\\.py:${LEAK}`));
    await until('the line that leaks', async () => (await rows()).some(one => one.line === LEAK));
    await inThemes('snapshot');
  });

  inLong(it)('the same by keyboard', async () => {
    const file = vscode.Uri.file(join(workspace, 'snapshot.pickle'));
    await inExplorer(file);
    void run('explorer.openWith', file);
    await until('the editors', async () => /snapshot/.test(await words(`${QUESTION} .monaco-list-row`)));
    await fill(INPUT, 'snapshot');
    await press(INPUT, 'Enter');
    await opened(file, 'ended');
    assert.equal(active(), 'gpuMemoryTrace.snapshot');
  });

  it('a hostile pickle runs nothing, and gets one sentence', async () => {
    const ran = join(workspace, 'ran');
    const file = vscode.Uri.file(join(workspace, 'hostile.pickle'));
    const command = `touch '${ran}'`;
    const call = Buffer.concat([
      Buffer.from('\x80\x04cos\nsystem\n(\x8c', 'latin1'),
      Buffer.from([Buffer.byteLength(command)]),
      Buffer.from(`${command}tR.`),
    ]);
    writeFileSync(file.fsPath, call);
    execFileSync('python3', ['-c', 'import pickle, sys; pickle.load(open(sys.argv[1], "rb"))', file.fsPath]);
    assert.ok(existsSync(ran), 'Python would run it');
    rmSync(ran);
    await run('workbench.action.closeAllEditors');
    await run('workbench.view.explorer');
    await run('vscode.openWith', file, 'gpuMemoryTrace.snapshot');
    await opened(file, 'failed');
    assertSentence(linesOf(await shows('.explorer', /os\.system/), /os\.system/).replace(workspace, 'WORKSPACE'));
    await inThemes('hostile');
    await run('workbench.action.closeAllEditors');
    await run('gpuMemoryTrace.openTrace', file).catch(() => undefined);
    await run('notifications.showList');
    await shows('.notification-list-item-message', /os\.system/);
    assert.ok(!existsSync(ran));
    await run('notifications.clearAll');
  });

  it('two traces are compared from the Explorer by mouse; their moments are chosen by keyboard', async () => {
    const [before, after] = [
      golden('steps.gputrace', 'a_before.gputrace'),
      golden('two_processes.gputrace', 'a_now.gputrace'), // the next row: both are in view
    ];
    await inExplorer(after);
    await click(row(before));
    await opened(before, 'ended'); // one that opens later would be shown in place of the side panel
    await click(row(after), { modifiers: ['Control'] });
    await run('workbench.action.closeAllEditors');
    await run('gpuMemoryTrace.compareTraces', after, [before, after]);
    await shows('[data-value=compare-sums]', /→/);
    assert.match(
      await words('[data-control=compare-a] vscode-option[aria-selected=true]'),
      /^end of .* · a_before\.gputrace/,
    );
    const sums = await words('[data-value=compare-sums]');
    await press('[data-control=compare-a]', 'ArrowDown');
    await until('other sums', async () => (await words('[data-value=compare-sums]')) !== sums);
  });

  it('a trace is saved by mouse and by keyboard', async () => {
    await run('gpuMemoryTrace.openTrace', golden('steps.gputrace', 'to_save.gputrace'));
    await until('the trace', async () => (await words('[data-value=title]')) === 'to_save.gputrace');
    await reached('ended');
    const saved = join(workspace, 'saved_copy.gputrace');
    const save = async (begin: () => Promise<void>, agree: () => Promise<void>): Promise<void> => {
      rmSync(saved, { force: true });
      await begin();
      // It fills in a file of its own when it is ready.
      await until('the dialog', async () => (await value(INPUT)).endsWith('to_save.gputrace'));
      await fill(INPUT, saved);
      await until('the file in the dialog', async () => (await value(INPUT)) === saved);
      await agree();
      await until('the file', () => existsSync(saved) && statSync(saved).size > 1000);
    };
    await save(
      () => click('[data-action=more]').then(() => click('[data-item=save]')),
      () => click(`${QUESTION} .monaco-button:has-text("OK")`),
    );
    await save(
      () => press('[data-action=more]', 'Enter').then(() => press('[data-item=save]', 'Enter')),
      () => press(INPUT, 'Enter'),
    );
  });

  it('the oldest of many traces makes room for the newest, and the status bar has it in one line', async () => {
    const files = Array.from({ length: 5 }, (_, place) => golden('steps.gputrace', `many_${place}.gputrace`));
    for (const file of files) await run('gpuMemoryTrace.openTrace', file);
    assertSentence(linesOf(await shows('.statusbar-item', /many_0\.gputrace/), /many_0/));
    const file = golden('two_processes.gputrace', 'beside.gputrace');
    await run('vscode.open', file);
    await until('its editor', () => active() === 'gpuMemoryTrace.savedTrace');
    await shows('.statusbar-item', /many_4\.gputrace: \d/);
    await run('workbench.action.closeActiveEditor');
  });
});
