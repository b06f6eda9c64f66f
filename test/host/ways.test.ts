// Other ways to a trace: `gpu-memtrace` in a terminal, a task, a test of pytest, the debugger where it is missing.
import * as assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { linesOf } from '../sentences.mjs';
import { sentencesOf } from './hostSentences';
import { FIRST, freshPage, reached, rowAt, workspace, writeScript } from './pageActions';
import { click, shows, until, words } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const written = (name: string): Promise<string> =>
  until(name, () => (existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : null));

describe('Ways to a trace', () => {
  before(freshPage);
  after(freshPage);

  it('gpu-memtrace is on PATH in a terminal, and traces what it runs', async () => {
    rmSync(join(workspace, 'told'), { force: true });
    const terminal = vscode.window.createTerminal({ name: 'ways', shellPath: '/bin/sh', cwd: workspace });
    terminal.sendText('gpu-memtrace run -- sh -c "echo dir=\\$GPU_MEMTRACE_DIR" > told 2>&1');
    assert.match(await until('its output', async () => /dir=.*\n/.exec(await written('told'))?.[0]), /^dir=\/.*trace-/);
    terminal.dispose();
  });

  it('what gpu-memtrace runs in a terminal is shown while it runs, can be stopped, and stays when it was saved', async () => {
    const file = writeScript(
      'typed.py',
      `allocate(ctypes.byref(address), ctypes.c_size_t(${5 << 20}))\ntime.sleep(60)\n`,
    );
    const terminal = vscode.window.createTerminal({ name: 'typed', shellPath: '/bin/sh', cwd: workspace });
    const saved = join(workspace, 'typed.gputrace');
    terminal.sendText(`gpu-memtrace run --format none -o typed.gputrace -- python3 '${file}'; touch typed.over`);
    await until('its page', async () => /typed\.py/.test(await words('[data-value=title]')));
    await reached('running');
    await rowAt(file, FIRST);
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await shows('[data-value=detail]', /^Stopped\.$/);
    await until('the command’s end', () => existsSync(join(workspace, 'typed.over')));
    assert.ok(existsSync(saved), 'the command saves it');
    await rowAt(file, FIRST);
    await until('Trace again', async () => (await words('[data-action=trace-again]')) === 'Trace again');
    await vscode.commands.executeCommand('gpuMemoryTrace.saveTrace', 'gputrace', vscode.Uri.file(`${saved}.copy`));
    await until('a copy of what was shown', () => existsSync(`${saved}.copy`));
    terminal.dispose();
  });

  // Where the link lies in a terminal of this size is found by trying, which is not always enough.
  inLong(it)('the path of a trace or of a failure’s page in a terminal is a link that opens it', async () => {
    const [trace, page] = [join(workspace, 'a trace.gputrace'), join(workspace, 'oom-12.md')];
    copyFileSync(join(__dirname, '../../../test/golden/trace/steps.gputrace'), trace);
    writeFileSync(page, '# Out of memory\n');
    const terminal = vscode.window.createTerminal({ name: 'links', shellPath: '/bin/sh', cwd: workspace });
    terminal.show();
    const opened = (): string | undefined => {
      const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      const isFile = input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText;
      return isFile ? input.uri.fsPath : undefined;
    };
    const filled = join(workspace, 'filled');
    for (const path of [trace, page]) {
      rmSync(filled, { force: true });
      // Rows full of it; how they wrap depends on its length, so one place after the other is tried.
      let tries = 0;
      terminal.sendText(`clear; for i in $(seq 99); do echo '${path} ${path}'; done; touch filled`);
      await until('the rows', () => existsSync(filled));
      await until(`${path} to open`, async () => {
        const position = { x: 40 + ((tries++ >> 2) % 8) * 50, y: 60 };
        await click('.terminal-wrapper.active .xterm-screen', { modifiers: ['Control'], position });
        return opened() === path ? true : null;
      });
    }
    terminal.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('a task runs a script under it, with its arguments', async () => {
    const file = join(workspace, 'in_a_task.py');
    const output = 'os.environ["GPU_MEMTRACE_DIR"] + " " + sys.argv[1]';
    writeFileSync(file, `import os, sys\nopen(__file__ + ".done", "w").write(${output})\n`);
    const provided = await vscode.tasks.fetchTasks({ type: 'gpu-memtrace' });
    assertSentence(provided.map(({ name }) => name).join('\n'));
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const definition = { type: 'gpu-memtrace', script: file, args: ['one word'] };
    const settings = vscode.workspace.getConfiguration('tasks', folder?.uri);
    await settings.update('tasks', [{ ...definition, label: 'traced' }], vscode.ConfigurationTarget.Workspace);
    const task = await until('the task', async () =>
      (await vscode.tasks.fetchTasks()).find(({ name }) => name === 'traced'),
    );
    const ended = new Promise<number | undefined>(done =>
      vscode.tasks.onDidEndTaskProcess(({ exitCode }) => done(exitCode)),
    );
    await vscode.tasks.executeTask(task);
    assert.match(await written('in_a_task.py.done'), /trace-\S+ one word$/);
    assert.equal(await ended, 0);
    await settings.update('tasks', undefined, vscode.ConfigurationTarget.Workspace);
  });

  it('says what a test that is none of pytest, and a missing debugger, need', async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.runTest', { id: 'x.TestCase.test', label: 'test' });
    await vscode.commands.executeCommand('notifications.showList');
    assertSentence(linesOf(await shows('.notification-list-item-message', /pytest/), /pytest/));
    await vscode.window.showTextDocument(vscode.Uri.file(writeScript('undebugged.py', '')));
    await vscode.commands.executeCommand('gpuMemoryTrace.debug');
    assertSentence(linesOf(await shows('.notification-list-item-message', /ms-python\.debugpy/), /debugpy/));
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('a test of pytest is run alone, as a session', async () => {
    const file = join(workspace, 'pytest.py'); // `python -m pytest` finds this one
    writeFileSync(file, 'import sys\nopen(__file__ + ".told", "w").write(" ".join(sys.argv[1:]))\n');
    const uri = vscode.Uri.file(file);
    await vscode.commands.executeCommand('gpuMemoryTrace.runTest', {
      id: `${uri.fsPath}::test_it[1]`,
      label: 'test_it',
      uri,
    });
    assert.equal(await written('pytest.py.told'), `${file}::test_it[1]`);
    rmSync(file);
  });
});
