// The page for people who use a keyboard or a screen reader, in VS Code: axe-core, a walk with the Tab key, reduced motion.
import * as assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { inLong, LONG } from '../long.mjs';
import { INPUT, picture, reached, titleOf, trace, workspace } from './pageActions';
import { attribute, click, fill, focused, keys, motions, press, rest, texts, until, violations } from './window';

const root = vscode.extensions.getExtension('gpu-memory-trace.gpu-memory-trace')?.extensionPath ?? '';
const SHOW = titleOf('gpuMemoryTrace.showPanel');
const KEPT = join(workspace, 'kept.py');
const PAGE = '.explorer';
/** The names of themes differ by version: "Default Dark Modern" became "Dark Modern". */
const themeIds = vscode.extensions.all.flatMap(({ packageJSON }) => {
  const { contributes } = packageJSON as { contributes?: { themes?: { id?: string }[] } };
  return (contributes?.themes ?? []).map(({ id }) => id ?? '');
});
/** Two are enough to see that the window's colours reach the page; the long run takes all. */
const THEMES = ['Dark Modern', 'High Contrast Light', ...(LONG ? ['Light Modern', 'High Contrast'] : [])].map(
  name => themeIds.find(id => id.endsWith(name)) ?? name,
);
/** The table scrolls with the arrow keys of the grid around it, which has the focus. */
const BY_KEYS = /scrollable-region-focusable: <div class="scroller"/;

const wrong = async (where: string, rules?: string[]): Promise<string[]> =>
  (await violations(PAGE, rules)).filter(line => !BY_KEYS.test(line)).map(line => `${where}: ${line.slice(0, 600)}`);
/** What each tab shows when it has been answered. */
const SHOWN: Record<string, string> = {
  lines: '.list [data-row]',
  flame: '.flame-rect',
  segments: '.segment-keys button',
  compare: '[data-control=compare-a] vscode-option',
};
const choose = (kind: string): Thenable<void> =>
  vscode.workspace.getConfiguration('workbench').update('colorTheme', kind, vscode.ConfigurationTarget.Workspace);

/**
 * What axe finds on each page that `pages` names when it has shown it; in other themes than the first only colours differ. Those of all
 * tabs are checked by test/page/access.mjs.
 */
async function wrongInThemes(pages: (first: boolean) => AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for (const theme of THEMES) {
    await choose(theme);
    await until(theme, () => attribute(`body[data-vscode-theme-id="${theme}"] .explorer`, 'class'));
    for await (const name of pages(theme === THEMES[0])) {
      await rest(PAGE);
      found.push(...(await wrong(`${name}, ${theme}`, theme === THEMES[0] ? undefined : ['color-contrast'])));
    }
  }
  return found;
}

async function shows(tab: string): Promise<void> {
  await click(`[data-tab=${tab}]`);
  await until(`the tab ${tab}`, async () => (await attribute(`[data-tab=${tab}]`, 'aria-selected')) === 'true');
  await until(`what ${tab} shows`, async () => (await texts(SHOWN[tab]!)).length > 0);
  await rest(PAGE);
}

/** The names of what the focus stops at, until it leaves the page. */
async function walk(key: string): Promise<string[]> {
  const stops: string[] = [];
  for (let i = 0; i < 120; i++) {
    await keys(key);
    const stop = await focused(PAGE);
    if (!stop) return stops;
    assert.ok(stop.seen, `the focus on ${stop.name} can be seen`);
    stops.push(stop.name);
  }
  throw new Error(`${key} does not leave the page: ${stops.slice(-6).join(', ')}`);
}

describe('The page with a keyboard and a screen reader in VS Code', function () {
  this.timeout(300_000);
  before(() => vscode.commands.executeCommand('gpuMemoryTrace.explorer.focus'));
  after(async () => {
    await choose(THEMES[0]!);
    for (let traces = 0; traces < 2; traces++) await vscode.commands.executeCommand('gpuMemoryTrace.closeSession');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  inLong(it)('axe finds nothing wrong while there is no trace, in any theme', async () => {
    await until('the page', () => attribute(PAGE, 'data-phase'));
    assert.deepEqual(
      await wrongInThemes(async function* () {
        yield 'first';
      }),
      [],
    );
  });

  /** A program that has leaked is shown. */
  async function leaked(): Promise<void> {
    if ((await attribute(PAGE, 'data-phase')) === 'ended') return;
    await trace(KEPT, 'outputs');
    await reached('ended');
    await until('a finding', async () => (await texts('[data-finding][data-verdict=leak]')).length > 0);
  }

  inLong(it)('axe finds nothing wrong with findings and details open', async () => {
    await leaked();
    await click('[data-action=why]');
    const found = await wrongInThemes(async function* (first) {
      for (const tab of first ? Object.keys(SHOWN) : []) {
        await shows(tab);
        yield tab;
      }
      await shows('lines');
      await click('.list [data-row="0"]');
      await until('the details', async () => (await texts('.details .stack')).length > 0);
      yield 'details';
    });
    await picture('access-details');
    assert.deepEqual(found, []);
  });

  inLong(it)(
    'the Tab key goes through the page and out of it again, forth and back, and the focus is seen',
    async () => {
      await leaked();
      await choose(THEMES[0]!);
      await press('[data-action=more]', 'Shift');
      const down = await walk('Tab');
      for (const name of ['lines', 'filter', 'group']) assert.ok(down.includes(name), `${name} in ${down.join(', ')}`);
      assert.ok(
        down.some(name => name.endsWith('grid')),
        down.join(', '),
      );
      await press('.list .grid', 'Shift');
      const up = await walk('Shift+Tab');
      for (const name of ['filter', 'lines', 'save']) assert.ok(up.includes(name), `${name} in ${up.join(', ')}`);
    },
  );

  it('Show Leak Explorer, from the palette, leads to the first finding; the next key opens it', async () => {
    await leaked();
    await vscode.window.showTextDocument(vscode.Uri.file(KEPT));
    await until('the focus in the editor', async () => (await focused(PAGE)) === null);
    await click('.finding-toggle');
    await vscode.window.showTextDocument(vscode.Uri.file(KEPT));
    await keys('F1');
    await until('the palette', () => fill(INPUT, `>${SHOW}`).then(() => true));
    await until('the command', async () => (await texts('.quick-input-list .focused')).join().includes(SHOW));
    await press(INPUT, 'Enter');
    await until('the finding', async () => (await focused(PAGE))?.name.includes('finding-toggle') ?? false);
    assert.equal(await attribute('.finding-toggle', 'aria-expanded'), 'false');
    await keys('Enter');
    await until('an open card', async () => (await attribute('.finding-toggle', 'aria-expanded')) === 'true');
  });

  inLong(it)('arrow keys choose a tab, Escape leaves menu and filter', async () => {
    await press('[data-tab=lines]', 'End');
    assert.equal((await focused(PAGE))?.name, 'compare');
    await keys('Home');
    assert.equal((await focused(PAGE))?.name, 'lines');
    await press('.list .grid', 'Home');
    await keys('Shift+F10');
    await until('the menu', async () => (await texts('[role=menu]')).length > 0);
    await keys('Escape');
    assert.match((await focused(PAGE))?.name ?? '', /grid/);
  });

  inLong(it)('nothing moves for a user who wants reduced motion', async () => {
    assert.deepEqual(await motions(PAGE, true), []);
  });

  inLong(it)('axe finds nothing wrong in a saved trace', async () => {
    const file = join(workspace, 'access.gputrace');
    copyFileSync(join(root, 'test/golden/trace/steps.gputrace'), file);
    await vscode.commands.executeCommand('gpuMemoryTrace.openTrace', vscode.Uri.file(file));
    await until('the trace', async () => (await texts('.header .title')).join().includes('access.gputrace'));
    await until('its rows', async () => (await texts('.list [data-row]')).length > 0);
    assert.deepEqual(
      await wrongInThemes(async function* () {
        yield 'saved trace';
      }),
      [],
    );
    await picture('access-saved');
  });
});
