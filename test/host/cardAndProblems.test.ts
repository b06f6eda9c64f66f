// Findings, in VS Code: the card, its line by mouse and by keyboard, the Problems entry, who holds it.
import * as assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { withoutNumbers } from '../masked.mjs';
import { linesOf } from '../sentences.mjs';
import { sentencesOf } from './hostSentences';
import { freshPage, inThemes, reached, trace, workspace } from './pageActions';
import { actionsAt, cursorAt, isCursorAt, GROWTH as CARD, problems } from './shownLeak';
import { attribute, behind, click, dismissPicker, press, shows, texts, until, violations, words } from './window';

const { it, assertSentence } = sentencesOf(__filename);

const root = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '';
const KEPT = join(workspace, 'kept.py');
const PICKER = '.quick-input-widget:not([style*="display: none"])';

const lineOf = (file: string, end: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex(line => line.endsWith(end)) + 1;

/** By the action of the first entry of a file. */
async function showFindingAt(file: string): Promise<void> {
  // A file that was just reverted is read anew, and its entry with it.
  const action = await until(`the action of the entry in ${file}`, async () => {
    const entry = problems(file)[0];
    return entry && (await actionsAt(file, entry.range)).find(({ command }) => command !== undefined);
  });
  assertSentence(action.title);
  await vscode.commands.executeCommand(action.command?.command ?? '', ...(action.command?.arguments ?? []));
}

/** Runs until it is stopped, unless it keeps nothing; a stand-in for PyTorch answers the tracer's agent. */
const LIVE = `import sys, time
sys.path[:0] = ["AGENT/standin", "AGENT"]
import torch, tracing
def cpu(tensor):
    tracing.report(tensor.untyped_storage().data_ptr(), -512)
torch.Tensor.detach, torch.Tensor.cpu = lambda tensor: tensor, cpu
kept = []
assert tracing.begin()
optimizer = torch.optim.Optimizer()
for step in range(60):
    tracing.report(0x100000 + 0x1000 * step, 512)
    kept.append(torch.Tensor(0x100000 + 0x1000 * step, 4, torch.Node(0x700000)))  # HOLD
    optimizer.step()
while any(kept):
    time.sleep(0.01)
`;

describe('Findings in VS Code', () => {
  before(async () => {
    await freshPage();
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  const autoSave = (when: string | undefined): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update('autoSave', when, vscode.ConfigurationTarget.Workspace);
  const setHolders = (when: string | undefined): Thenable<void> =>
    vscode.workspace.getConfiguration('gpuMemoryTrace').update('holders', when, vscode.ConfigurationTarget.Workspace);
  after(async () => {
    await autoSave(undefined);
    await setHolders(undefined);
  });

  it('says in one sentence what leaks, how fast, since when', async () => {
    await trace(KEPT, 'outputs');
    await reached('ended');
    const card = await shows(CARD, /kept\.py:\d+\S* [^]*\+64 KiB [^]* blocks [^·]*·\s*confidence \d+%/);
    assertSentence(linesOf(card, /^kept\.py|KiB/));
    assertSentence(withoutNumbers(linesOf(card, /%/)));
    assert.equal(await attribute(`${CARD}`, 'data-severe'), 'true');
    assert.ok(
      ((await attribute(`${CARD} .spark polyline`, 'points')) ?? '').split(' ').length > 8,
      'a line over the steps',
    );
    await inThemes('findings');
    assert.deepEqual(await violations('.findings'), []);
  });

  it('opens the line by mouse, and by keyboard', async () => {
    const line = lineOf(KEPT, '# LEAK outputs');
    const other = vscode.Uri.file(join(workspace, 'no_gpu.py'));
    await vscode.window.showTextDocument(other);
    await click(`${CARD} [data-action=open-line]`);
    await cursorAt(KEPT, line);
    await vscode.window.showTextDocument(other);
    await press(`${CARD} [data-action=open-line]`, 'Enter');
    await cursorAt(KEPT, line);
  });

  it('has no button that needs the program once that has ended', async () => {
    assert.notEqual(await attribute(`${CARD} [data-action=who-holds]`, 'hidden'), null);
  });

  inLong(it)('tells what it is not, and what the other lines do', async () => {
    await press(`${CARD} [data-action=why]`, 'Enter');
    const text = await shows(`${CARD} [data-part=reasons]`, /Other lines/);
    assert.match(text, /Ruled out\s+Not warm-up/);
    assert.match(text, /kept\.py:\d+ .* persistent\s+\w.*\./);
    await press(`${CARD} [data-action=why]`, 'Enter');
    await until('no reasons', async () => (await words(`${CARD} [data-part=reasons]`)) === '');
    await click(`${CARD} [data-action=why]`);
    await shows(`${CARD} [data-part=reasons]`, /Other lines/);
    await click(`${CARD} [data-action=why]`);
  });

  it('puts a warning at the line, which leads to the card', async () => {
    const line = lineOf(KEPT, '# LEAK outputs') - 1;
    const [entry, ...more] = await until('the entry', () => (problems(KEPT).length > 0 ? problems(KEPT) : null));
    assert.equal(more.length, 0);
    assert.deepEqual(
      [entry?.severity, entry?.source, entry?.range.start.line],
      [vscode.DiagnosticSeverity.Warning, 'GPU Memory Trace · Leak', line],
    );
    const text = readFileSync(KEPT, 'utf8').split('\n')[line] ?? '';
    const { start, end } = entry?.range ?? new vscode.Range(0, 0, 0, 0);
    assert.equal(text.slice(start.character, end.character), text.replace(/#.*/, '').trim(), 'the statement alone');
    assert.match(entry?.message ?? '', /^kept\.py:\d+\S* .* · \+64 KiB .*\n.*\.$/);
    assertSentence(entry?.message);
    await click(`${CARD} .finding-toggle`);
    assert.equal(await attribute(`${CARD} .finding-toggle`, 'aria-expanded'), 'false');
    await showFindingAt(KEPT);
    const open = (state: string): Promise<true> =>
      until('the card', async () => ((await attribute(`${CARD} .finding-toggle`, 'aria-expanded')) === state) as true);
    await open('true');
    await press(`${CARD} .finding-toggle`, 'Enter');
    await open('false');
    await press(`${CARD} .finding-toggle`, 'Enter');
    await open('true');
  });

  inLong(it)('the warning follows edits of the file', async () => {
    const line = lineOf(KEPT, '# LEAK outputs') - 1;
    const stands = (at: number): Promise<true> =>
      until(`the entry in line ${at}`, () => (problems(KEPT)[0]?.range.start.line === at) as true);
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(KEPT));
    await editor.edit(edit => edit.insert(new vscode.Position(0, 0), '# a note\n# another\n'));
    await stands(line + 2);
    await vscode.commands.executeCommand('undo');
    await stands(line);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('asks a running program who holds it', async () => {
    const file = join(workspace, 'live_leak.py');
    writeFileSync(file, LIVE.replaceAll('AGENT', join(root, 'test/native/agent/programs')));
    await setHolders('never'); // or the holder may be known before the button is pressed
    await trace(file);
    await reached('running');
    await shows(CARD, /1 more tensor/);
    assert.equal(problems(KEPT).length, 1, 'the entry of the other program stays');
    await press(`${CARD} [data-action=who-holds]`, 'Enter');
    const text = await shows(`${CARD} [data-part=holders][data-state=answered]`, /still alive/);
    assert.match(text, /__main__\.kept\[\.\.\.\] live_leak\.py:\d+\s+list of 60 · 5\d of 5\d blocks/);
    await until(
      'the entry at the line that keeps it',
      () => problems(file)[0]?.range.start.line === lineOf(file, '# HOLD') - 1,
    );
    await until(
      'nothing else to find',
      async () => (await attribute(`${CARD} [data-action=who-holds]`, 'hidden')) !== null,
    );
    await press(`${CARD} [data-part=holders][data-state=answered] button.link`, 'Enter');
    await until('the cursor', () => isCursorAt(file, lineOf(file, '# HOLD')));
    await setHolders(undefined);
  });

  it('writes the fix where it belongs, from the card and from Problems, and undo takes it back', async () => {
    await autoSave('off'); // what was undone is still saved otherwise, where that comes late
    const file = join(workspace, 'live_leak.py');
    const document = await vscode.workspace.openTextDocument(file);
    const before = document.getText();
    const fixed = before.replace('torch.Node(0x700000)))', 'torch.Node(0x700000)).detach().cpu())');
    assert.notEqual(fixed, before);
    const rate = (await words(`${CARD} [data-value=figures]`)).split(' ·')[0] ?? '';
    const lineEnds = (): Promise<string[]> => behind('.monaco-editor .view-line span', 200).catch(() => []);
    // Also where the line is long.
    const isLeak = async (): Promise<boolean> =>
      (await lineEnds()).some(text => text.includes(`${rate} · `)) && problems(file).length === 1;
    const written = async (): Promise<void> => {
      await until('the fix', () => document.getText() === fixed);
      await shows(`${CARD} [data-value=fixed]`, /\w/);
      await until(
        'no leak in the editor',
        async () => problems(file).length === 0 && !/per.step/.test(String(await lineEnds())),
      );
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('undo');
      await until('the text as it was', () => document.getText() === before);
      await until('the leak in the editor', isLeak);
    };
    await vscode.window.showTextDocument(document);
    await until('the figures of the card at the line', isLeak);
    await shows(`${CARD} [data-action=apply-fix]`, /Add \.detach\(\)\.cpu\(\)/);
    await press(`${CARD} [data-action=apply-fix]`, 'Enter');
    await cursorAt(file, lineOf(file, '# HOLD'));
    await written();
    const entry = await until('the entry', () => problems(file)[0]);
    const { line } = entry.range.start;
    const actions = await actionsAt(file, new vscode.Range(line, 0, line, 1));
    const made = entry.relatedInformation?.filter(({ message }) => message.startsWith('Allocated here'));
    assert.deepEqual(
      made?.map(({ message }) => message),
      [`Allocated here: ${rate}`],
    );
    const fix = actions.find(({ title }) => title === 'Add .detach().cpu()');
    assert.ok(fix?.edit && fix.isPreferred, actions.map(({ title }) => title).join());
    await vscode.workspace.applyEdit(fix.edit);
    await written();
    const hoverAt = async (at: vscode.Position): Promise<string> => {
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        document.uri,
        at,
      );
      return hovers.flatMap(({ contents }) => contents.map(one => (one as vscode.MarkdownString).value)).join();
    };
    const [leaks = ''] = entry.message.split(' · ');
    assert.ok(!(await hoverAt(entry.range.start)).includes(leaks), 'VS Code shows the problem beside it');
    const text = await hoverAt(new vscode.Position(lineOf(file, '# HOLD') - 1, 2));
    assert.ok(text.includes(leaks), text);
    const [, given = ''] =
      /\[Add \.detach\(\)\.cpu\(\)\]\(command:gpuMemoryTrace\.applyFix\?([^)]*)\)/.exec(text) ?? [];
    assert.notEqual(given, '', text);
    await vscode.commands.executeCommand(
      'gpuMemoryTrace.applyFix',
      ...(JSON.parse(decodeURIComponent(given)) as unknown[]),
    );
    await written();
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('an entry leads to its own program, also once that has ended', async () => {
    await inThemes('findings-live');
    await showFindingAt(KEPT);
    await reached('ended');
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await showFindingAt(join(workspace, 'live_leak.py'));
    await shows('[data-value=detail]', /^Stopped\.$/);
    await reached('ended');
    const chosen = vscode.commands.executeCommand('gpuMemoryTrace.selectSession');
    await shows(`${PICKER} .quick-input-list .monaco-list-row`, /live_leak\.py\s*stopped · 1 leak · shown/);
    assert.ok((await texts(`${PICKER} .quick-input-list .codicon-warning`)).length > 0);
    await dismissPicker();
    await chosen;
  });

  it('fixed and traced again, a program is beside its run before', async () => {
    const file = join(workspace, 'live_leak.py');
    await autoSave('off');
    await click(`${CARD} [data-action=apply-fix]`);
    assertSentence(await shows(CARD, /Trace again$/));
    await inThemes('fixed');
    const edit = new vscode.WorkspaceEdit();
    edit.insert(vscode.Uri.file(file), new vscode.Position(0, 0), '# what moves all lines\n');
    await vscode.workspace.applyEdit(edit);
    assert.equal((await vscode.workspace.openTextDocument(file)).isDirty, true);
    await click(`${CARD} [data-action=trace-again]`);
    const sentence = '[data-value=run-before]';
    await shows(sentence, /no longer grows/);
    assert.match(await words(sentence), new RegExp(`live_leak\\.py:${lineOf(file, '# HOLD')} no`));
    await reached('ended');
    assertSentence(await shows(sentence, /Peak/));
    assert.deepEqual(problems(file), []);
    await inThemes('run-before');
    await press('[data-action=compare-runs]', 'Enter');
    await shows('[data-value=compare-sums]', /30\.50 KiB → 512 B/);
    const offered = await texts('[data-control=compare-a] vscode-option');
    for (const title of [/^run 1, .*live_leak\.py/, /^run 2, .*live_leak\.py/])
      assert.ok(
        offered.some(option => title.test(option.trim())),
        offered.join(),
      );
    await inThemes('run-before-compared');
  });
});
