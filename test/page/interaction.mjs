// The page by mouse and keyboard against the fake host: node test/page/all.mjs interaction
import assert from 'node:assert/strict';
import { eventually, runChecks, sentencesOf } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const { page, errors, context } = await openPage(browser, await buildPage(), { width: 1100, height: 900 });
const grid = page.locator('.list .grid');
const active = page.locator('.list [data-row][aria-selected=true]');
const number = async (locator, name) => Number(await locator.getAttribute(name));
const opened = () =>
  page.evaluate(() => window.bench.calls.filter(call => call.method === 'openLine').map(call => call.params));
const saved = () => page.evaluate(() => window.bench.saved);
const pause = () => settled(page);
const column = async id => {
  const rows = await page.locator('[data-row]').all();
  const cells = rows.map(async row => [
    await number(row, 'data-row'),
    await row.locator(`[data-column=${id}]`).innerText(),
  ]);
  return (await Promise.all(cells)).sort((a, b) => a[0] - b[0]).map(cell => cell[1].trim());
};

const checks = {
  async 'figures of a session that lead to another layer have its rows asked for, though nothing else comes'() {
    await pause();
    await page.evaluate(() => {
      window.bench.requests.length = 0;
      const { session } = window.bench.session;
      const driver = session.info.totals.filter(({ layer }) => layer === 'driver');
      const totals = driver.map(one => ({ ...one, segmentAllocations: 0 }));
      window.postMessage({
        type: 'session',
        session: { ...session, info: { ...session.info, totals } },
        answers: true,
      });
    });
    const layers = () =>
      page.evaluate(() => window.bench.requests.filter(one => one.method === 'sites').map(one => one.params.layer));
    await eventually(async () => assert.deepEqual([...new Set(await layers())], ['driver']));
    assert.equal(await page.locator('[data-tab=segments]').isVisible(), false, 'no allocator has segments');
    await page.evaluate(() => window.postMessage(window.bench.session));
    await pause();
    assert.equal(await page.locator('[data-tab=segments]').isVisible(), true);
  },
  async 'the sentence on what was found waits for the header of its moment'() {
    await page.evaluate(() => {
      const { host, requests } = window.bench;
      const take = host.onmessage;
      host.onmessage = event => {
        const { type, id, value } = event.data;
        if (type === 'response' && requests.some(one => one.id === id && one.method === 'findings'))
          Object.assign(value, { revision: 1e9, sentence: 'No leak in the first 37 steps' });
        take(event);
      };
      window.release = () => (host.onmessage = take);
      window.bench.calls.length = window.bench.answers.length = requests.length = 0;
      window.postMessage({ type: 'judged' });
    });
    const sentence = page.locator('[data-value=standing]');
    const answered = () =>
      page.evaluate(() => window.bench.answers.some(({ method }) => method === 'findings answered'));
    await eventually(async () => assert.ok(await answered()));
    await pause();
    assert.doesNotMatch(await sentence.innerText(), /37/);
    await page.evaluate(() => {
      const { session } = window.bench.session;
      const info = { ...session.info, revision: 1e9 };
      window.postMessage({ type: 'session', session: { ...session, info }, answers: true });
    });
    await eventually(async () => assert.match(await sentence.innerText(), /37/));
    await page.evaluate(() => {
      window.release();
      window.postMessage(window.bench.session);
    });
    await pause();
  },
  async 'the peak of several cards is drawn with the other figures, and never below what is alive'() {
    await page.evaluate(() => {
      const { host, requests, session: sent } = window.bench;
      const take = host.onmessage;
      const held = [];
      requests.length = 0;
      const isPasses = ({ id }) => requests.some(one => one.id === id && one.method === 'passes');
      host.onmessage = event =>
        event.data.type === 'response' && isPasses(event.data) ? held.push(event) : take(event);
      window.release = () => {
        host.onmessage = take;
        held.forEach(take);
      };
      const { session } = sent;
      const alive = [90, 9].map(gib => gib * 2 ** 30);
      const totals = session.info.totals.map(one =>
        one.layer === 'tensor' ? { ...one, liveBytes: alive[one.device], peakBytes: alive[one.device] } : one,
      );
      const info = { ...session.info, totals, startRealtimeMs: session.info.startRealtimeMs + 1 };
      window.postMessage({ type: 'session', session: { ...session, info } });
    });
    const label = () => page.locator('.timeline-surface').getAttribute('aria-label');
    await eventually(async () => assert.ok((await label()).includes('Highest: 99 GiB'), await label()));
    const later = await page.evaluate(() => window.bench.requests.filter(({ method }) => method === 'ranges'));
    assert.deepEqual(later, [], 'passes and ranges come when they come');
    await page.evaluate(() => {
      window.release();
      window.postMessage(window.bench.session);
    });
    await settled(page);
  },
  async 'the timeline is asked for the width that it has'() {
    await page.setViewportSize({ width: 800, height: 900 });
    await eventually(async () => {
      const buckets = await page.evaluate(() => window.bench.answers.filter(one => one.buckets).at(-1).buckets);
      const { width } = await page.locator('.timeline-surface').boundingBox();
      assert.ok(buckets > width * 0.85 && buckets <= width, `${buckets} buckets for ${width} pixels`);
    });
    await page.setViewportSize({ width: 1100, height: 900 });
    await pause();
  },
  async 'arrow keys move, Enter opens the line, the row is marked'() {
    await grid.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) await grid.press(key);
    await pause();
    assert.equal(await number(active, 'data-row'), 1);
    assert.equal(await grid.getAttribute('aria-activedescendant'), await active.getAttribute('id'));
    await grid.press('Enter');
    await pause();
    const [file, line] = [await active.getAttribute('data-file'), await number(active, 'data-line')];
    assert.deepEqual((await opened()).at(-1), { file, line });
    assert.ok((await active.getAttribute('class')).includes('opened'));
  },
  async 'End and PageUp reach rows that were never loaded, Home comes back'() {
    await grid.press('End');
    await pause();
    assert.equal(await number(active, 'data-row'), 4999);
    assert.equal(await number(grid, 'aria-rowcount'), 5001);
    await grid.press('PageUp');
    await pause();
    assert.ok((await number(active, 'data-row')) < 4999);
    assert.ok(await active.isVisible());
    await grid.press('Home');
    await pause();
    assert.equal(await number(active, 'data-row'), 0);
  },
  async 'few rows are in the page, and few are asked for'() {
    assert.ok((await page.locator('[data-row]').count()) < 60);
  },
  async 'the stack of the active row is shown with links and a folded part'() {
    const details = page.locator('.details');
    await eventually(async () => assert.match(await details.locator('.stack').first().innerText(), /^\W*4 .* torch/m));
    await details.getByRole('button', { name: 'train.py:88' }).click();
    await pause();
    assert.deepEqual((await opened()).at(-1), { file: '/home/user/project/train.py', line: 88 });
  },
  async 'a header sorts, again turns the order, and says so'() {
    const count = page.locator('[role=columnheader][data-column=count]');
    await count.locator('button').click();
    await pause();
    assert.equal(await count.getAttribute('aria-sort'), 'descending');
    const down = (await column('count')).map(text => Number(text.replaceAll(',', '')));
    assert.deepEqual(down, down.toSorted?.((a, b) => b - a) ?? [...down].sort((a, b) => b - a));
    await count.locator('button').click();
    await pause();
    assert.equal(await count.getAttribute('aria-sort'), 'ascending');
    assert.equal((await column('count'))[0], '1');
    await page.locator('[data-action=columns]').click();
    await page.locator('[data-item=growth]').click();
    await page.keyboard.press('Escape');
    await page.locator('[data-sort=growth]').click();
    await pause();
    assert.match((await column('growth'))[0], /^\+\d/);
    assert.equal(await page.locator('[data-row="0"]').getAttribute('data-trend'), 'growing');
    assert.equal(await active.count(), 0, 'the active row is the same group, which is not in view now');
  },
  async 'the filter narrows the rows'() {
    await page.locator('[data-control=filter]').click();
    await page.keyboard.type('model.py >1MB');
    await pause();
    assert.equal((await saved()).filter, 'model.py >1MB');
    const shownFiles = await page.locator('[data-row]:visible').evaluateAll(all => all.map(one => one.dataset.file));
    assert.deepEqual([...new Set(shownFiles)], ['/home/user/project/model.py']);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('nothing like this');
    await pause();
    assertSentence(await page.locator('.list .none').innerText());
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await pause();
    assert.ok((await column('site')).length > 5);
  },
  async 'the selectors change grouping and layer'() {
    await page.locator('[data-control=group]').click();
    await pause();
    await page.locator('vscode-option[value=function]').click();
    await page.locator('[data-control=layer]').click();
    await page.locator('vscode-option[value=driver]').click();
    await pause();
    const { groupBy, layer } = await saved();
    assert.deepEqual([groupBy, layer], ['function', 'driver']);
    assert.match(await page.locator('.list-head h2').innerText(), /by function/);
  },
  async 'the timeline zooms by wheel and keys, pans by the wheel sideways and by moments, follows again by 0'() {
    const surface = page.locator('.timeline-surface');
    /** The middle of the timeline, wherever it is by now. */
    const middle = async () => {
      await pause();
      const { x, y, width } = await surface.boundingBox();
      return [x + width / 2, y + 50];
    };
    await page.mouse.move(...(await middle()));
    await page.mouse.wheel(0, -300);
    await pause();
    const { spanNs, endNs } = (await saved()).zoom;
    assert.ok(spanNs < 423e9 && endNs !== null);
    await page.mouse.wheel(-60, 0);
    await eventually(async () => assert.ok((await saved()).zoom.endNs < endNs));
    await surface.press('0');
    await eventually(async () => assert.equal((await saved()).zoom.spanNs, null));
    for (const key of ['+', '+', '+', 'Home']) await surface.press(key);
    await eventually(async () => assert.equal((await saved()).moment.kind, 'at'));
    const { zoom, moment } = await saved();
    assert.ok(zoom.endNs - zoom.spanNs <= moment.timeNs && moment.timeNs <= zoom.endNs, 'the moment is in sight');
    for (const key of ['Escape', '0']) await surface.press(key);
    await pause();
    assert.deepEqual([(await saved()).moment.kind, (await saved()).zoom.spanNs], ['now', null]);
    await page.locator('[data-series=driver]').click();
    await pause();
    assert.equal(await page.locator('[data-series=driver]').getAttribute('aria-pressed'), 'false');
  },
  async 'the warning has details'() {
    await page.locator('[data-notice=losses] summary').click();
    assert.match(await page.locator('[data-notice=losses]').innerText(), /budget: 1,200/);
  },
  async 'without a card there is no arrow that would open its bar'() {
    const shown = devices =>
      page.evaluate(
        count => window.bench.host.postMessage({ type: 'scene', scene: {}, live: false, devices: count }),
        devices,
      );
    await page.locator('.ledger-toggle').waitFor({ state: 'attached' });
    const hidden = () => page.locator('.ledger-toggle').evaluate(one => one.hasAttribute('hidden'));
    await shown(0);
    await eventually(async () => assert.equal(await hidden(), true));
    await shown(2);
    await eventually(async () => assert.equal(await hidden(), false));
  },
  async 'the buttons ask the host'() {
    for (const action of ['recording', 'stop', 'save', 'save-page'])
      await page.locator(`[data-action=${action}]`).click();
    await pause();
    const methods = await page.evaluate(() => window.bench.calls.map(call => call.method));
    for (const method of ['setRecording', 'stop', 'save', 'savePage']) assert.ok(methods.includes(method), method);
  },
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
