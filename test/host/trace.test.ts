// The main job, in VS Code: trace a script, read the table, click a row, land on the line.
import * as assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { sentencesOf } from './hostSentences';
import { problems } from './shownLeak';
import { FIRST, freshPage, INPUT, PAGE, picture, reached, rowAt, trace, workspace, writeScript } from './pageActions';
import { attribute, click, fill, press, rows, shows, texts, until, value, words } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const CHOOSE = '[data-action=choose-interpreter]';
const SIMPLE = 'files.simpleDialog.enable';

async function open(file: string): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

const HOLD = `allocate(ctypes.byref(address), ctypes.c_size_t(${20 * MB}))
allocate(ctypes.byref(address), ctypes.c_size_t(${3 * MB}))
`;

describe('GPU Memory Trace in VS Code', () => {
  before(async () => {
    await freshPage();
  });

  it('says what to do before anything was traced', async () => {
    await reached('empty');
    await picture('empty');
  });

  it('shows a line of a running script, and a click puts the cursor on it', async () => {
    const file = writeScript('hold.py', `${HOLD}time.sleep(60)\n`);
    await trace(file);
    await reached('running');
    const row = await rowAt(file, FIRST);
    assert.match(row.cells.liveBytes ?? row.cells.live ?? '', /20 MiB/);
    await rowAt(file, FIRST + 1);
    await shows('[id*="gpuMemoryTrace.live"]', /23 MiB/);
    await open(writeScript('other.py', ''));
    await click(`[data-row][data-line="${FIRST + 1}"]`);
    await until('the line', () => {
      const editor = vscode.window.activeTextEditor;
      return editor?.document.uri.fsPath === file && editor.selection.active.line === FIRST;
    });
    await picture('running');
  });

  it('opens the line with Enter as well', async () => {
    await open(writeScript('other.py', ''));
    await press('[role=grid]', 'Home');
    await press('[role=grid]', 'Enter');
    await until('the line', () => vscode.window.activeTextEditor?.selection.active.line === FIRST - 1);
  });

  it('stops the script', async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
    await shows('[data-value=detail]', /^Stopped\.$/);
    assert.equal(await attribute('.dot', 'data-phase'), 'ended');
    assert.equal(await attribute('[data-phase=ended] .words > .detail', 'class'), 'detail', 'it is no error');
    await picture('ended');
    assert.ok((await rows()).length >= 2, 'what was alive at the end stays');
  });

  it('shows how a script ended by itself; it was just being saved when it was started', async () => {
    const file = writeScript('seven.py', `${HOLD}sys.exit(7)\n`);
    const document = await vscode.workspace.openTextDocument(file);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), '\n');
    await vscode.workspace.applyEdit(edit);
    void document.save();
    await trace(file);
    await reached('ended');
    assertSentence((await texts('.detail.error [data-value=detail]')).join(' '));
    assert.equal(await attribute('.dot', 'data-phase'), 'crashed');
    assert.doesNotMatch(await words('.offers'), /Python/, 'it is not to blame');
  });

  it('says the exception that ended a script at once, and which Python ran it; it can be traced again', async () => {
    const file = writeScript('no_module.py', 'import not_installed_here\n');
    await trace(file);
    await reached('ended');
    assertSentence(await shows('.detail.error [data-value=detail]', /Error/));
    assert.equal(await attribute('[data-value=detail] [data-file]', 'data-file'), file, 'its line is a link');
    assert.match(await words('[data-value=ran]'), /\/python3?\b/);
    await shows(`vscode-button${CHOOSE}`, /./);
    const bar = (await texts('.statusbar-item')).join('|');
    assert.doesNotMatch(bar, /\b0 B\b/, 'no bytes of nothing');
    const [problem] = problems(file);
    assert.deepEqual([problem?.severity, problem?.range.start.line], [vscode.DiagnosticSeverity.Error, FIRST - 1]);
    await picture('exception');
    writeFileSync(file, '');
    await open(writeScript('other.py', ''));
    await click('[data-action=trace-again]');
    assertSentence(await shows('[data-value=detail]', / 0\. /));
    await shows('[data-value=title]', /^no_module\.py$/);
    assert.deepEqual(problems(file), [], 'the entry was of the run before');
  });

  it('shows why a script refused its arguments; they are asked for again', async () => {
    const file = writeScript('refuses.py', 'import argparse\nargparse.ArgumentParser().parse_args()\n');
    await trace(file, '--epoch');
    await reached('ended');
    assertSentence(await shows('.detail.error [data-value=detail]', /--epoch/));
    assert.doesNotMatch(await words('.offers'), /Python/);
    const answer = async (argument: string): Promise<void> => {
      await until('the question', () => fill(INPUT, argument).then(() => true));
      await press(INPUT, 'Enter');
      await shows('.detail.error [data-value=detail]', new RegExp(argument)); // until then the run before is shown
    };
    await click('vscode-button[data-action=change-arguments]');
    await answer('--changed');
    const command = Promise.resolve(vscode.commands.executeCommand('gpuMemoryTrace.start'));
    await answer('--once-more');
    await command;
    await reached('ended');
  });

  it('says of a script whose PyTorch was built without CUDA that it runs on the CPU, in place of tables', async () => {
    for (const name of ['libtorch_cpu.so', 'libc10.so']) writeFileSync(join(workspace, name), ' '.repeat(4096));
    const file = join(workspace, 'on_cpu.py');
    const script = `import mmap, os, time
os.chdir(os.path.dirname(__file__))
library = open("libtorch_cpu.so", "rb")
loaded = mmap.mmap(library.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
while not os.path.exists("go"): time.sleep(0.01)
`;
    writeFileSync(file, script);
    await trace(file);
    assertSentence(await shows('[data-value=detail]', /torch\.cuda\.is_available\(\)/));
    writeFileSync(join(workspace, 'go'), '');
    await reached('ended');
    assertSentence(await shows('[data-value=detail]', / 0\. .*torch\.cuda\.is_available\(\)/));
    assert.equal(await attribute('.trace', 'hidden'), '');
    assert.equal(await attribute('.headline > span', 'hidden'), '', 'no bytes of nothing');
    assert.equal(await attribute('[data-action=save]', 'hidden'), '');
    await picture('on-cpu');
    await click('[data-action=doctor]');
    const labels = () => vscode.window.tabGroups.all.flatMap(group => group.tabs.map(tab => tab.label));
    const machine = await until('the setup check', () => labels().find(label => /Check setup/.test(label)));
    assertSentence(machine);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('asks for new arguments, in the terminal that the ended run had', async () => {
    const command = Promise.resolve(vscode.commands.executeCommand('gpuMemoryTrace.startWithArguments'));
    const input = '.quick-input-widget:not([style*="display: none"]) input[type=text]';
    await until('the question', () => press(input, 'Enter').then(() => true));
    await command;
    await reached('ended');
    const names = vscode.window.terminals.map(({ name }) => name);
    assert.equal(names.filter(name => name === 'seven.py').length, 1, names.join());
  });

  it('says why a script could not be started', async () => {
    const settings = vscode.workspace.getConfiguration('gpuMemoryTrace');
    await settings.update('pythonPath', '/no/such/python', vscode.ConfigurationTarget.Workspace);
    try {
      await trace(writeScript('never.py', '')).catch(() => {});
      await reached('failed');
      assert.match((await texts(PAGE)).join(' '), /\/no\/such\/python/);
      await click(CHOOSE);
      await until('the settings', () =>
        vscode.window.tabGroups.all.some(group => group.tabs.some(tab => /Settings/.test(tab.label))),
      );
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await picture('failed');
    } finally {
      await settings.update('pythonPath', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });
});

describe('The sample', () => {
  after(freshPage);

  it('is a recorded run, which opens at the line that leaks by its button where nothing was traced', async () => {
    await freshPage();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await click('[data-action=try-sample]');
    const editor = await until('the sample’s source', () => {
      const { activeTextEditor: active } = vscode.window;
      return /\/sample\/finetune\.py$/.test(active?.document.uri.fsPath ?? '') ? active : null;
    });
    await until('the line', () => editor.selection.active.line > 0);
    const { line } = editor.selection.active;
    assert.match(editor.document.lineAt(line).text, /^ +val_total \+= val_loss /);
    await reached('ended');
    await shows('[data-value=title]', /^finetune\.py \(recorded sample\)$/);
    await shows('[data-value=detail]', /^Recorded on an NVIDIA H\w+ .* PyTorch \d\.\d+, .*20\d\d\./);
    await shows('[data-finding][data-verdict=leak]', new RegExp(`finetune\\.py:${line + 1} `));
    await shows('[data-finding] [data-part=holder]', /train\(\)\.val_total/);
    assert.equal(await attribute('[data-action=apply-fix]', 'title'), 'val_total += val_loss.detach()');
    await until('the entry at that line', () =>
      vscode.languages.getDiagnostics(editor.document.uri).some(({ range }) => range.start.line === line),
    );
    await picture('sample');
  });

  it('opens its lines from the table, and nothing of it runs', async () => {
    const { line } = await until('a line of the sample', async () =>
      (await rows()).find(row => row.file.endsWith('/finetune.py')),
    );
    await click(`[data-row][data-line="${line}"]`);
    await until('the line', () => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      return /\/sample\/finetune\.py$/.test(document?.uri.fsPath ?? '') && selection?.active.line === line - 1;
    });
    assert.equal(await attribute('[data-action=stop]', 'hidden'), '');
  });

  it('shows what would fit, by a replay of what was recorded', async () => {
    await click('[data-tab=fit]');
    await shows('[data-value=fit-best]', /^Largest batch that fits into 139\.8 GiB: [\d.]+× the recorded batch$/);
    await shows('[data-value=fit-answer]', /^The recorded batch fits: its peak is 7\.61 GiB of 139\.8 GiB\.$/);
    await picture('fit');
    await click('[data-tab=lines]');
  });

  inLong(it)('leads to a script of one’s own', async () => {
    await vscode.workspace.getConfiguration().update(SIMPLE, true, vscode.ConfigurationTarget.Global);
    try {
      const file = writeScript('own.py', HOLD);
      await click('[data-action=trace-own]');
      await until('the dialog', async () => (await value(INPUT)) !== '');
      await fill(INPUT, file);
      await until('the file in the dialog', async () => (await value(INPUT)) === file);
      await press(INPUT, 'Enter');
      await rowAt(file, FIRST);
    } finally {
      await vscode.workspace.getConfiguration().update(SIMPLE, undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('is what Trace GPU memory shows where there is no GPU; nothing is asked before', async function () {
    if (existsSync('/dev/nvidiactl')) return this.skip();
    await freshPage();
    const settings = vscode.workspace.getConfiguration('terminal.integrated.env');
    const before = settings.inspect('linux')?.workspaceValue;
    await settings.update('linux', { LD_LIBRARY_PATH: '' }, vscode.ConfigurationTarget.Workspace);
    try {
      await trace(writeScript('asks.py', 'print(sys.argv)\n'));
      await shows('[data-value=title]', /^finetune\.py \(recorded sample\)$/);
      await shows('[data-value=detail]', /^This machine has no NVIDIA .*Recorded on/);
      await shows('[data-action=doctor]', /./);
      assert.doesNotMatch(await words('.offers'), /own/);
      await picture('without-gpu');
    } finally {
      await settings.update('linux', before, vscode.ConfigurationTarget.Workspace);
      await freshPage();
    }
  });
});
