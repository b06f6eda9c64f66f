// The table in VS Code, by mouse and again by keyboard: filter, sort, group, tree, several rows, copy, menu, frees.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { inLong } from '../long.mjs';
import { NO_MODULE } from '../../extension/report/trees/modules';
import { FIRST, freshPage, inThemes, reached, rowAt, trace, writeScript } from './pageActions';
import { attribute, click, fill, painted, press, rows, texts, until, type Row } from './window';

const GRID = '.list .grid';
const FILTER = '[data-control=filter] input';
const GROUP = '[data-control=group]';
const BAR = '[data-value=selection]';
const MENU = '[role=menu]';
const row = (index: number): string => `.list [data-row="${index}"]`;

const LINES = { many: FIRST + 2, big: FIRST + 4, churn: FIRST + 8, free: FIRST + 11 };
const BODY = `def many():
    for _ in range(3):
        allocate(ctypes.byref(address), ctypes.c_size_t(4 << 20))
def big():
    allocate(ctypes.byref(address), ctypes.c_size_t(30 << 20))
def churn():
    kept = []
    for _ in range(6):
        allocate(ctypes.byref(address), ctypes.c_size_t(1 << 20))
        kept.append(address.value)
    for one in kept[:4]:
        cuda.cuMemFree_v2(ctypes.c_uint64(one))
def main():
    many()
    big()
    churn()
    time.sleep(120)
main()
`;

/** Groupings in the order of the choice, after that by line: value, its word, the first row's name, how many rows. */
const KINDS: readonly (readonly [string, string, RegExp, number])[] = [
  ['site', 'stack', /^:\d+/, 3],
  ['function', 'function', /^big/, 3],
  ['file', 'file', /^table\.py/, 1],
  ['thread', 'thread', /^main thread/, 1],
  ['process', 'process', /^table\.py \(\d+\)/, 1],
  ['device', 'device', /^cuda:0/, 1],
  ['module-path', 'module', new RegExp(`^${NO_MODULE.replace(/[()]/g, '\\$&')}`), 1],
  ['category', 'purpose', /./, 1],
];

let file = '';
const shown = async (): Promise<number[]> =>
  (await rows()).sort((a, b) => Number(a.row) - Number(b.row)).map(r => r.line);
const shows = (lines: number[]): Promise<boolean> =>
  until(`rows of lines ${lines.join()}`, async () => {
    const now = await shown().catch(() => []);
    if (String(now) === String(lines)) return true;
    throw new Error(`They are ${now.join()}`);
  });
const cursorAt = (line: number): Promise<boolean> =>
  until(`the cursor in line ${line}`, () => {
    const editor = vscode.window.activeTextEditor;
    return editor?.document.uri.fsPath === file && editor.selection.active.line === line - 1;
  });
const keys = async (...all: string[]): Promise<void> => {
  for (const key of all) await press(GRID, key);
};
const elsewhere = (): Thenable<unknown> => vscode.window.showTextDocument(vscode.Uri.file(writeScript('other.py', '')));
const selection = (expected: RegExp): Promise<string> =>
  until(`a sum ${expected}`, async () => {
    const text = (await texts(BAR)).join('');
    if (expected.test(text)) return text;
    throw new Error(`It says ${text}`);
  });
const clipboard = (lines: number): Promise<string> =>
  until('the copied rows', async () => {
    const text = await vscode.env.clipboard.readText();
    return text.trimEnd().split('\n').length === lines ? text : null;
  });
async function group(value: string): Promise<void> {
  await click(GROUP);
  await click(`${GROUP} vscode-option[value=${value}]`);
}
const rowOf = async (line: number): Promise<Row> => await rowAt(file, line);

inLong(describe)('The table in VS Code', () => {
  before(async () => {
    await freshPage();
    file = writeScript('table.py', BODY);
    await trace(file);
    await reached('running');
    await rowOf(LINES.churn);
    await shows([LINES.big, LINES.many, LINES.churn]);
  });
  after(async () => {
    await vscode.commands.executeCommand('gpuMemoryTrace.stop');
    await reached('ended');
  });

  it('filters by words and sizes, names what is wrong, and clears', async () => {
    await fill(FILTER, '>10MB');
    await shows([LINES.big, LINES.many]);
    await fill(FILTER, '>10MB many');
    await shows([LINES.many]);
    await fill(FILTER, '>10XB');
    await until('the reason', async () => />10XB: /.test((await texts('[data-value=filter-note]')).join('')));
    await click('[data-action=clear-filter]');
    await shows([LINES.big, LINES.many, LINES.churn]);
    await fill(FILTER, 'churn');
    await shows([LINES.churn]);
    await press(FILTER, 'Escape');
    await shows([LINES.big, LINES.many, LINES.churn]);
  });

  it('sorts by mouse and by keyboard', async () => {
    await click('.list [data-sort=label]');
    await shows([LINES.many, LINES.big, LINES.churn]);
    await press('.list [data-sort=liveBytes]', 'Enter');
    await shows([LINES.big, LINES.many, LINES.churn]);
    await press('.list [data-sort=liveBytes]', ' ');
    await shows([LINES.churn, LINES.many, LINES.big]);
    await press('.list [data-sort=liveBytes]', ' ');
    await shows([LINES.big, LINES.many, LINES.churn]);
  });

  it('groups by each kind, by mouse and by keyboard', async () => {
    const shownBy = (by: string, first: RegExp, count: number): Promise<true> =>
      until(`rows by ${by}`, async () => {
        const title = (await texts('.list-head h2')).join('');
        const all = (await rows()).sort((a, b) => Number(a.row) - Number(b.row));
        const name = all[0]?.cells.site ?? '';
        if (title === `Live by ${by}` && first.test(name) && all.length === count) return true as const;
        throw new Error(`${title}: ${all.length} rows, ${name}`);
      });
    for (const [value, name, first, count] of KINDS) {
      await group(value);
      await shownBy(name, first, count);
    }
    await group('line');
    await shownBy('line', /^:\d+/, 3);
    for (const [, name, first, count] of KINDS) {
      await press(GROUP, 'ArrowDown');
      await shownBy(name, first, count);
    }
    await group('line');
    await shows([LINES.big, LINES.many, LINES.churn]);
  });

  it('selects several rows with their sum, and copies them', async () => {
    await click(row(0));
    await click(row(1), { modifiers: ['Shift'] });
    await selection(/^2 rows · 42 MiB · 4 blocks$/);
    await click(row(2), { modifiers: ['Control'] });
    await selection(/^3 rows · 44 MiB · 6 blocks$/);
    await vscode.env.clipboard.writeText('');
    await click('[data-action=copy-rows]');
    assert.match(
      await clipboard(4),
      new RegExp(`^Line\\tFunction\\tLive.*\\n${file}:${LINES.big}\\tbig\\t${30 << 20}\\t`),
    );
    await keys('Home', 'Shift+ArrowDown');
    await selection(/^2 rows/);
    await vscode.env.clipboard.writeText('');
    await keys('Control+c');
    await clipboard(3);
    await keys('Control+a');
    await selection(/^3 rows · 44 MiB/);
    await keys('Escape');
  });

  it('opens the line from the menu of a row', async () => {
    await elsewhere();
    await click(row(1), { button: 'right' });
    await click(`${MENU} [data-item=open]`);
    await cursorAt(LINES.many);
    await elsewhere();
    await keys('Home', 'Shift+F10');
    await press(`${MENU} [data-item=open]`, 'Enter');
    await cursorAt(LINES.big);
  });

  it('shows the stack from the menu of a row', async () => {
    const stack = (): Promise<true> =>
      until('the stack', async () => /^stack/i.test((await texts('.details :focus', 300)).join('')) as true);
    await click(row(1), { button: 'right' });
    await click(`${MENU} [data-item=stack]`);
    await stack();
    await click('[data-action=back]');
    await keys('Home', 'Shift+F10');
    await press(`${MENU} [data-item=stack]`, 'Enter');
    await stack();
    await press('[data-action=back]', 'Enter');
  });

  it('tells who frees the blocks of a line', async () => {
    const link = `.frees [data-line="${LINES.free}"]`;
    await elsewhere();
    await click(row(2), { button: 'right' });
    await click(`${MENU} [data-item=frees]`);
    await until('the line that frees', async () => /table\.py/.test((await texts(link)).join('')));
    await click(link);
    await cursorAt(LINES.free);
    await elsewhere();
    await click('[data-action=back]');
    await keys('End', 'ContextMenu');
    await press(`${MENU} [data-item=frees]`, 'Enter');
    await press(link, 'Enter');
    await cursorAt(LINES.free);
    await click('[data-action=back]');
  });

  it('filters to a row, and shows a chosen column', async () => {
    await click(row(0), { button: 'right' });
    await click(`${MENU} [data-item=filter]`);
    await shows([LINES.big]);
    await click('[data-action=clear-filter]');
    await shows([LINES.big, LINES.many, LINES.churn]);
    await click('[data-action=columns]');
    await click(`${MENU} [data-item=frees]`);
    await press(`${MENU} [data-item=frees]`, 'Escape');
    assert.equal((await rowOf(LINES.churn)).cells.frees, '4');
    await press('[data-action=columns]', 'Enter');
    await press(`${MENU} [data-item=frees]`, 'Enter');
    await press(`${MENU} [data-item=frees]`, 'Escape');
    assert.equal(await attribute('[role=columnheader][data-column=frees]', 'hidden'), '');
  });

  it('remembers the chosen columns', async () => {
    const header = '[role=columnheader][data-column=peak]';
    await click('[data-action=columns]');
    await click(`${MENU} [data-item=peak]`);
    await press(`${MENU} [data-item=peak]`, 'Escape');
    await until('the column', async () => (await attribute(header, 'hidden')) === null);
    const before = await painted(GRID);
    await vscode.commands.executeCommand('workbench.action.webview.reloadWebviewAction');
    await until('the page again', async () => (await painted(GRID)) > before);
    assert.equal(await attribute(header, 'hidden'), null);
    await shows([LINES.big, LINES.many, LINES.churn]);
    await press('[data-action=columns]', 'Enter');
    await press(`${MENU} [data-item=peak]`, 'Enter');
    await press(`${MENU} [data-item=peak]`, 'Escape');
    await until('the column away', async () => (await attribute(header, 'hidden')) === '');
  });

  it('shows the tree of stacks with self and total, opened by mouse and by keyboard', async () => {
    await group('stacks');
    const top = `.list .grid[role=treegrid] [data-row="0"]`;
    await until('the outermost frame', async () => (await attribute(top, 'aria-level')) === '1');
    for (let level = 1; (await attribute(row(level - 1), 'aria-expanded')) === 'false' && level < 4; level++) {
      await click(`${row(level - 1)} .twisty`);
      await until('what it calls', async () => (await attribute(row(level), 'aria-level')) === String(level + 1));
    }
    const open = (await rows()).map(({ cells }) => `${cells.site?.split(/\s/)[0]} ${cells.live} ${cells.self}`);
    assert.ok(
      open.some(text => /^<module>\S* 44 MiB 0 B$/.test(text)),
      open.join('\n'),
    );
    assert.ok(
      open.some(text => /^big\S* 30 MiB 30 MiB$/.test(text)),
      open.join('\n'),
    );
    await keys('Home', 'ArrowLeft');
    await until('one row', async () => (await rows()).length === 1);
    await keys('ArrowRight');
    await until('what it calls', async () => (await rows()).length >= 2);
    await keys('ArrowRight');
    await until('the first of them', async () => (await attribute('.list .row.active', 'aria-level')) === '2');
    await group('line');
    await shows([LINES.big, LINES.many, LINES.churn]);
  });

  it('is shown in every theme', async () => {
    await click(row(0));
    await click(row(1), { modifiers: ['Shift'] });
    await inThemes('table');
    await group('stacks');
    await keys('Home', 'ArrowRight');
    await until('two rows', async () => (await rows()).length >= 2);
    await inThemes('tree');
    await group('line');
  });
});
