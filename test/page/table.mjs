// The table by mouse and keyboard against the fake host: node test/page/all.mjs table
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { inLong, LONG } from '../long.mjs';
import { check, eventually, runChecks, sentencesOf } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const { page, errors, context } = await openPage(browser, files, { width: 1500 });
const grid = page.locator('.list .grid');
const row = index => page.locator(`.list [data-row="${index}"]`);
const selected = page.locator('.list [data-row][aria-selected=true]');
const active = page.locator('.list [data-row].active');
const menu = page.locator('[role=menu]');
const item = id => menu.locator(`[data-item=${id}]`);
const bar = page.locator('[data-value=selection]');
const pause = () => settled(page);
const calls = method =>
  page.evaluate(name => window.bench.calls.filter(call => call.method === name).map(call => call.params), method);
const last = async method => (await calls(method)).at(-1);
const saved = () => page.evaluate(() => window.bench.saved);
const keys = async (...all) => {
  for (const key of all) {
    await page.keyboard.press(key);
    await pause();
  }
};
const indexOf = async locator => Number(await locator.getAttribute('data-row'));
const focused = () => page.evaluate(() => document.activeElement?.className ?? '');
const chooseGroup = async value => {
  await page.locator('[data-control=group]').click();
  await page.locator(`[data-control=group] vscode-option[value=${value}]`).click();
  await pause();
};
const filter = async text => {
  await page.locator('[data-control=filter] input').fill(text);
  await pause();
};

async function axe(target = page) {
  const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  const { readFileSync } = await import('node:fs');
  await target.evaluate(readFileSync(source, 'utf8'));
  const { violations } = await target.evaluate(() =>
    window.axe.run({ include: [['.list'], ['.menu']].filter(([one]) => document.querySelector(one)) }),
  );
  // The toolkit's own drop-downs are upstream's: their inner parts are not ours to name.
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html.slice(0, 160)).join('\n  ')}`);
}

const checks = {
  async 'Shift+click and Ctrl+click select several rows, the bar sums them'() {
    await row(1).click();
    await row(3).click({ modifiers: ['Shift'] });
    await pause();
    assert.equal(await selected.count(), 3);
    assert.match(await bar.innerText(), /^3 rows · .+ [GM]iB · [\d,]+ blocks$/);
    await row(6).click({ modifiers: ['Control'] });
    await row(2).click({ modifiers: ['Control'] });
    await pause();
    assert.equal(await selected.count(), 3);
    const opened = await calls('openLine');
    assert.equal(opened.length, 1, 'only the plain click opens a line');
    assert.equal(opened[0].preserveFocus, true, 'one click leaves the keyboard in the table');
    await row(1).dblclick();
    await pause();
    assert.equal((await last('openLine')).preserveFocus, false);
    await row(4).click();
    await pause();
    assert.ok(await bar.isHidden());
  },
  'Shift+arrows, Ctrl+A, Escape and Space do the same': inLong(check)(async () => {
    await grid.focus();
    await keys('Home', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowUp');
    assert.equal(await selected.count(), 3);
    await keys('Control+ArrowDown', 'Control+ArrowDown', ' ');
    assert.equal(await selected.count(), 4);
    await keys('Control+a');
    await pause();
    const [, blocks, bytes] = (await page.locator('[data-value=sums]').innerText()).split(' · ');
    assert.equal(await bar.innerText(), `5,000 rows · ${bytes} · ${blocks}`);
    await keys('Escape');
    assert.equal(await selected.count(), 1);
    await keys('Home', 'Shift+End');
    await pause();
    await eventually(async () => assert.match(await bar.innerText(), /^5,000 rows/));
    await keys('Home');
  }),
  async 'Ctrl+C copies the selected rows for a spreadsheet'() {
    await keys('Home', 'Shift+ArrowDown', 'Control+c');
    await pause();
    const lines = (await last('copyText')).text.replace(/\n$/, '').split('\n');
    assert.equal(lines.length, 3);
    assert.equal(lines[0].split('\t').slice(0, 4).join('|'), 'Line|Function|Live|Per step');
    assert.match(lines[1], /^\/home\/user\/project\/\w+\.py:\d+\t/);
    assert.equal(new Set(lines.map(line => line.split('\t').length)).size, 1);
  },
  async 'the menu of a row comes by right click, by its button and by keys'() {
    await row(2).click({ button: 'right' });
    await pause();
    assert.equal(await menu.count(), 1);
    assert.equal(await indexOf(active), 2);
    await keys('Escape');
    assert.equal(await menu.count(), 0);
    assert.match(await focused(), /grid/);
    await row(5).hover();
    await row(5).locator('.more').click();
    await pause();
    assert.equal(await menu.count(), 1);
    await page.mouse.click(500, 60);
    await pause();
    assert.equal(await menu.count(), 0);
    await grid.focus();
    for (const key of ['ContextMenu', 'Shift+F10']) {
      await keys('Home', 'ArrowDown', key);
      assert.equal(await menu.count(), 1, key);
      await keys('End');
      assert.equal(await page.evaluate(() => document.activeElement.dataset.item), 'filter');
      await keys('Escape');
    }
  },
  async 'the menu opens the line, shows the stack and who frees, copies and filters'() {
    await keys('Home', 'ContextMenu', 'Enter');
    await pause();
    const at = await row(0).evaluate(element => ({ file: element.dataset.file, line: Number(element.dataset.line) }));
    assert.deepEqual(await last('openLine'), at);
    const freed = await page
      .locator('.list [data-row]')
      .evaluateAll(rows => rows.findIndex(one => one.dataset.id % 3 > 0 && one.dataset.row > 0 && one.dataset.row < 9));
    await page.locator('.list [data-row]').nth(freed).click({ button: 'right' });
    await item('frees').click();
    await pause();
    const frees = page.locator('.frees');
    assert.match(await frees.innerText(), /train\.py:66 backward · (seen 812 times|not since)/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Freed by');
    await frees.getByRole('button', { name: 'train.py:66' }).click();
    await pause();
    assert.deepEqual(await last('openLine'), { file: '/home/user/project/train.py', line: 66 });
    await row(1).click({ button: 'right' });
    await item('stack').click();
    await pause();
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^Stack/);
    await row(1).click({ button: 'right' });
    await item('copy').click();
    await pause();
    assert.equal((await last('copyText')).text.trimEnd().split('\n').length, 2);
    await row(0).click({ button: 'right' });
    await item('filter').click();
    await pause();
    const { filter: words } = await saved();
    assert.ok(words.startsWith(at.file.split('/').at(-1)), words);
    assert.equal(await page.locator('[data-control=filter] input').inputValue(), words);
  },
  async 'the filter has a hint, names a wrong word, and is cleared by its button and by Escape'() {
    const input = page.locator('[data-control=filter] input');
    const note = page.locator('[data-value=filter-note]');
    await input.click();
    await pause();
    assert.match(await note.innerText(), /age>5steps/);
    const [hint, box] = [await note.boundingBox(), await input.boundingBox()];
    assert.ok(hint.y + hint.height <= box.y, 'the heads of the columns and the rows stay in sight');
    await page.locator('[data-action=clear-filter]').click();
    await pause();
    assert.equal((await saved()).filter, '');
    await filter('model.py');
    await filter('model.py >10XB');
    assertSentence(await note.innerText());
    assert.equal((await saved()).filter, 'model.py', 'what cannot be read is not asked');
    await input.press('Escape');
    await pause();
    assert.equal((await saved()).filter, '');
    assert.ok(await page.locator('[data-action=clear-filter]').isHidden());
  },
  async 'columns are chosen by mouse and by keyboard, and remembered'() {
    const header = id => page.locator(`[role=columnheader][data-column=${id}]`);
    await page.locator('[data-action=columns]').click();
    await item('peak').click();
    await eventually(async () => assert.ok(await header('peak').isVisible()));
    assert.equal(await item('peak').getAttribute('aria-checked'), 'true');
    await keys('Escape');
    assert.match((await saved()).table.columns.join(), /peak/);
    await page.locator('[data-action=columns]').focus();
    await keys('Enter', 'Home', 'ArrowDown', 'ArrowDown', ' ', 'Escape');
    await eventually(async () => assert.ok(await header('count').isHidden()));
    await header('live').click({ button: 'right' });
    await item('count').click();
    await item('peak').click();
    await keys('Escape');
    await eventually(async () => assert.ok((await header('count').isVisible()) && (await header('peak').isHidden())));
  },
  async 'a row that leaks is red in its selection, too'() {
    for (const theme of ['dark', 'light']) {
      const own = await openPage(browser, files, { width: 300, theme, devices: 1 });
      const red = own.page.locator('.rows .row[data-tone=alarm]').first();
      await red.dispatchEvent('click');
      await own.page.locator('.list .grid').focus();
      await settled(own.page);
      assert.equal(await red.getAttribute('aria-selected'), 'true');
      for (const part of ['.primary', '[data-column=step]']) {
        const colours = await red.evaluate((row, at) => {
          const context = document.createElement('canvas').getContext('2d');
          return [row.querySelector(at), row].map(one => {
            context.fillStyle = window.getComputedStyle(one).color;
            context.fillRect(0, 0, 1, 1);
            return [...context.getImageData(0, 0, 1, 1).data];
          });
        }, part);
        const redness = ([r, g, b]) => r - Math.max(g, b);
        assert.ok(redness(colours[0]) > redness(colours[1]) + 40, `${theme} ${part}: ${JSON.stringify(colours)}`);
      }
      await own.context.close();
    }
  },
  async 'what is found, and the end of the run, move no column; below 320 px, growth has one once a row grows'() {
    const ids = of =>
      of.locator('.list [role=columnheader]:visible').evaluateAll(all => all.map(({ dataset }) => dataset.column));
    for (const width of [300, 1000]) {
      const sets = [];
      for (const story of ['clean', 'leaks']) {
        const own = await openPage(browser, files, { width, story, devices: 1 });
        await settled(own.page);
        sets.push(await ids(own.page));
        const ending = { timeNs: 400e9, title: 'As of the end', show: 'Show it', when: '', reason: '', bytes: 1 };
        const scene = { phase: 'ended', exitCode: 0, ending };
        const message = { type: 'scene', scene, devices: 1, story };
        await own.page.evaluate(one => window.bench.host.postMessage(one), message);
        await own.page.locator('[data-value=moment]:visible').waitFor();
        await settled(own.page);
        sets.push(await ids(own.page));
        await own.context.close();
      }
      const [clean, ended, ...leaks] = sets;
      assert.deepEqual(ended, clean);
      for (const set of leaks) assert.deepEqual(width < 320 ? set.filter(id => id !== 'step') : set, clean);
      assert.equal(clean.includes('step'), width >= 320);
      assert.ok(leaks[1].includes('step'));
    }
  },
  async 'a name that has no room loses its middle, never the number of its line'() {
    for (const width of LONG ? [300, 360, 700] : [300]) {
      const narrow = await openPage(browser, files, { width });
      await settled(narrow.page);
      const cut = await narrow.page.locator('.list .row .at:not(:empty)').evaluateAll(all =>
        all.map(at => {
          const [own, cell] = [at, at.closest('[data-column]')].map(one => one.getBoundingClientRect());
          return own.right - cell.right;
        }),
      );
      assert.ok(cut.length > 5, `${cut.length} rows at ${width} pixels`);
      assert.deepEqual(
        cut.filter(over => over > 0.5),
        [],
        `at ${width} pixels`,
      );
      await narrow.context.close();
    }
    const short = await row(0)
      .locator('.primary')
      .evaluate(one => one.scrollWidth - one.clientWidth);
    assert.equal(short, 0, 'a name that has room is whole');
  },
  async 'the tree opens and closes by arrow keys, and by its arrows'() {
    await chooseGroup('stacks');
    assert.equal(await grid.getAttribute('role'), 'treegrid');
    await grid.focus();
    await keys('Home');
    for (let i = 0; i < 4; i++) {
      await keys('ArrowRight');
      await pause();
    }
    assert.equal(await indexOf(active), 2);
    assert.equal(await active.getAttribute('aria-level'), '3');
    assert.equal(await row(1).getAttribute('aria-expanded'), 'true');
    assert.match(await row(0).locator('[data-column=site]').innerText(), /^main/);
    await keys('ArrowLeft', 'ArrowLeft');
    assert.equal(await indexOf(active), 1);
    await keys('ArrowLeft', 'ArrowLeft', 'ArrowLeft');
    assert.equal(await row(0).getAttribute('aria-expanded'), 'false');
    await row(0).locator('.twisty').click();
    await pause();
    assert.equal(await row(0).getAttribute('aria-expanded'), 'true');
    await row(1).click();
    await pause();
    assert.equal((await last('openLine')).line, 81);
  },
  'the tree weighs by peak and by all that was allocated; a sum counts each byte once': inLong(check)(async () => {
    const top = () => row(0).locator('[data-column=live]').innerText();
    const live = await top();
    await row(0).click();
    await row(1).click({ modifiers: ['Shift'] });
    await pause();
    assert.ok((await bar.innerText()).includes(live), await bar.innerText());
    await page.locator('[data-control=weight]').click();
    await page.locator('[data-control=weight] vscode-option[value=churn]').click();
    await pause();
    await eventually(async () => assert.notEqual(await top(), live));
    await page.locator('[data-control=weight]').click();
    await page.locator('[data-control=weight] vscode-option[value=live]').click();
    await chooseGroup('line');
    assert.equal(await grid.getAttribute('role'), 'grid');
  }),
  async 'the tree of modules opens to what each module’s memory is for'() {
    await chooseGroup('modules');
    const site = index => row(index).locator('[data-column=site]');
    await eventually(async () => assert.match(await site(0).innerText(), /^model/));
    assert.equal(await page.locator('[data-control=weight]').isVisible(), false);
    await grid.focus();
    await keys('Home');
    for (let i = 0; i < 8; i++) {
      await keys('ArrowRight');
      await pause();
    }
    assert.match(await site(2).innerText(), /^module \[3\]/, 'the layer that holds most comes first');
    assert.match(await site(4).innerText(), /^activations/);
    assert.equal(await row(2).getAttribute('aria-level'), '3');
    assert.deepEqual(await axe(), []);
    await chooseGroup('stacks');
    await eventually(async () => assert.match(await site(0).innerText(), /^main/));
    assert.equal(await page.locator('[data-control=weight]').isVisible(), true);
    await chooseGroup('line');
  },
  'axe finds nothing wrong in the list, the tree and the menu': inLong(check)(async () => {
    await row(1).click();
    await row(3).click({ modifiers: ['Shift'] });
    await pause();
    assert.deepEqual(await axe(), []);
    await chooseGroup('stacks');
    await row(0).click({ button: 'right' });
    assert.deepEqual(await axe(), []);
    await keys('Escape');
  }),
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
