// Several programs at once in VS Code: choosing one, marks, comparing, the page as an editor.
import * as assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { FIRST, freshPage, INPUT, inThemes, PAGE, reached, rowAt, trace, writeScript } from './pageActions';
import {
  attribute,
  click,
  dismissPicker,
  keys,
  press,
  rows,
  shows as reads,
  texts,
  until,
  value,
  violations,
} from './window';

const MB = 1 << 20;
const run = (command: string, ...given: unknown[]): Promise<unknown> =>
  Promise.resolve(vscode.commands.executeCommand(`gpuMemoryTrace.${command}`, ...given));
const title = async (): Promise<string> => (await texts('[data-value=title]'))[0] ?? '';
const shows = (name: string): Promise<boolean> =>
  until(`the page to show ${name}`, async () => (await title()) === name);
const SESSION = 'vscode-dropdown[data-control=session]';

/** Holds so many MB, and more at each line that comes into a file beside it. */
function holding(name: string, megabytes: number): string {
  return writeScript(
    name,
    `allocate(ctypes.byref(address), ctypes.c_size_t(${megabytes * MB}))
while not os.path.exists(__file__ + ".go"): time.sleep(0.05)
allocate(ctypes.byref(address), ctypes.c_size_t(${2 * megabytes * MB}))
time.sleep(120)
`,
  );
}

describe('Several sessions in VS Code', () => {
  let first = '';
  let second = '';

  before(async () => {
    await freshPage();
    await vscode.commands.executeCommand('notifications.clearAll');
  });
  after(async () => {
    await click('[data-tab=lines]');
    await freshPage();
  });

  it('traces a second program beside the first one, and the status bar tells what the shown one holds', async () => {
    first = holding('first_job.py', 10);
    await trace(first);
    await rowAt(first, FIRST);
    second = holding('second_job.py', 30);
    await trace(second);
    await shows('second_job.py');
    await rowAt(second, FIRST);
    await until('its bytes', async () => /peak 30 MiB$/.test((await texts('[id*="gpuMemoryTrace.live"]')).join()));
  });

  it('shows the other one by the mouse', async () => {
    await click(SESSION);
    await click(`${SESSION} vscode-option:nth-child(2)`);
    await shows('first_job.py');
    await rowAt(first, FIRST);
    assert.ok((await rows()).every(row => row.file !== second));
    assert.deepEqual(await violations('.scopes'), []);
  });

  it('and back again by the keyboard', async () => {
    await press(SESSION, 'ArrowUp');
    await shows('second_job.py');
    await rowAt(second, FIRST);
    await press(SESSION, 'ArrowDown');
    await shows('first_job.py');
    await inThemes('sessions');
  });

  it('marks a moment, and compares it with now', async () => {
    await run('mark', 'before eval');
    await click('[data-tab=compare]');
    await until('the mark', async () =>
      (await texts('[data-control=compare-a] vscode-option')).some(text => text.includes('before eval')),
    );
    await click('[data-tab=lines]');
    await vscode.workspace.fs.writeFile(vscode.Uri.file(`${first}.go`), new Uint8Array());
    await rowAt(first, FIRST + 2);
    await click('[data-tab=compare]');
    const compared = await until('the new line', async () =>
      (await texts('[data-compared]')).find(text => text.replace(/\s+/g, '').includes(`:${FIRST + 2}`)),
    );
    assert.match(compared, /new/);
    assert.match(compared, /\+20 MiB/);
    assert.match((await texts('[data-value=compare-sums]'))[0] ?? '', /10 MiB → 30 MiB \(\+20 MiB\)/);
    assert.match((await texts('[data-control=compare-a] vscode-option[aria-selected=true]'))[0] ?? '', /before eval/);
    assert.deepEqual(await violations('.compare'), []);
    await inThemes('compare');
  });

  inLong(it)('opens a compared line by mouse and by Enter', async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(second));
    await click(`[data-compared][data-line="${FIRST + 2}"]`);
    const onLine = (line: number): Promise<true> =>
      until(`line ${line}`, () => {
        const editor = vscode.window.activeTextEditor;
        return (editor?.document.uri.fsPath === first && editor.selection.active.line === line - 1) || null;
      });
    await onLine(FIRST + 2);
    await click('[data-action=unchanged]');
    await press('.compare-grid', 'End');
    await press('.compare-grid', 'Enter');
    await onLine(FIRST);
  });

  it('asks for the name of a mark', async () => {
    const input = '.quick-input-widget:not([style*="display: none"]) input[type=text]';
    await click('[data-action=more]');
    await click('[data-item=mark]');
    await until('the question', () => press(input, 'Enter').then(() => true));
    await until('the mark among the moments', async () =>
      (await texts('[data-control=compare-a] vscode-option')).some(text => text.includes('marker 2')),
    );
  });

  it('opens the page in an editor', async () => {
    await click('[data-action=open-wide]');
    const groups = vscode.window.tabGroups;
    await until('the editor', () => groups.all.some(({ tabs }) => tabs.some(tab => tab.label === 'Leak Explorer')));
    assert.equal(groups.all.length, 1, 'the page is a tab of the active group, and no group is split for it');
    await vscode.commands.executeCommand('workbench.action.closeSidebar');
    await until('the page in it', async () => (await texts(`${PAGE} [data-value=title]`))[0] === 'first_job.py');
    await inThemes('wide');
    void run('start'); // its program still runs, which is asked about
    const asked = '.quick-input-widget:not([style*="display: none"]) .quick-input-title';
    await until('the question', async () => /first_job\.py/.test((await texts(asked)).join()));
    await dismissPicker();
    await click('[data-tab=lines]');
    await click(`[data-row][data-line="${FIRST}"]`);
    await until('the line', () =>
      vscode.window.visibleTextEditors.some(({ selection }) => selection.active.line === FIRST - 1),
    );
    assert.equal(groups.all.length, 2, 'it stands beside the page');
    assert.equal(await attribute(PAGE, 'data-phase'), 'running');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus');
  });

  it('closes a session that ended, and shows the other one', async () => {
    await run('stop');
    await reached('ended');
    await click('[data-action=close-session]');
    await shows('second_job.py');
    assert.equal(await attribute(PAGE, 'data-phase'), 'running');
    await until('its terminal to go', () => vscode.window.terminals.every(({ name }) => name !== 'first_job.py'));
    assert.ok(vscode.window.terminals.some(({ name }) => name === 'second_job.py'));
    const closed = /^first_job\.py was closed\. Open trace… reopens it\.$/;
    await until('where it is kept', async () =>
      (await texts('.statusbar-item')).some(text => closed.test(text.trim())),
    );
    assert.equal((await texts('[data-notice=closed]')).join(), '', 'nothing of it stands above another result');
  });

  it('a saved trace can be traced again, once its command was seen', async () => {
    const traces = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpu-memory-trace/traces');
    const kept = readdirSync(traces, { recursive: true }).map(String);
    const newest =
      kept
        .filter(name => /first_job\.py-[\d-]+\.gputrace$/.test(name))
        .toSorted((a, b) => basename(a).localeCompare(basename(b))) // by time; the folders are of other workspaces too
        .at(-1) ?? '';
    await run('openTrace', vscode.Uri.file(join(traces, newest)));
    await reads('[data-value=detail]', /recorded/);
    const asked = async (): Promise<boolean> =>
      until('the command', async () => /first_job\.py'?$/.test(await value(INPUT).catch(() => '')));
    await click('[data-action=trace-again]');
    await asked();
    await press(INPUT, 'Escape');
    assert.equal(await attribute(PAGE, 'data-phase'), 'ended', 'nothing ran');
    await click('[data-action=trace-again]');
    await asked();
    await press(INPUT, 'Enter');
    await reached('running');
    await run('stop');
    await reached('ended');
    await run('closeSession');
    await run('closeSession');
    await shows('second_job.py');
  });

  it('offers open and recent traces first where one is opened or compared with, and then files', async () => {
    const list = '.quick-input-widget:not([style*="display: none"])';
    const offered = async (): Promise<string[]> => texts(`${list} .quick-input-list-row:first-child .label-name`);
    void run('openTrace');
    const items = await until('the traces', async () => {
      const found = await offered();
      return found.length > 2 ? found : null;
    });
    assert.equal(items[0], 'second_job.py');
    assert.ok(items.includes('first_job.py'), items.join());
    await keys('ArrowUp'); // to the last, which a long list does not draw before
    await until('files at last', async () => (await offered()).at(-1)?.startsWith('Browse'));
    await keys('Escape');
    await click('[data-tab=compare]');
    await click('[data-action=compare-other]');
    await until('the other traces', async () => (await offered()).some(text => text.startsWith('first_job.py')));
    assert.ok(!(await offered()).includes('second_job.py'), 'it is the one that is compared');
    await press(`${list} input[type=text]`, 'Enter');
    await until('the moments of the other trace', async () =>
      (await texts('[data-control=compare-a] vscode-option')).some(text => text.includes('first_job.py')),
    );
  });
});
