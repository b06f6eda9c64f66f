// Whether the run would fit with another batch, GPU or settings: node test/page/all.mjs fit
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { eventually, runChecks, sentencesOf } from './checks.mjs';
import { buildPage, openBrowser, openPage } from './page.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const ENDED = { phase: 'ended', exitCode: 0, detail: 'It ended with status 0.' };
const opened = await openPage(browser, files, { devices: 1, width: 1280, height: 1000, scene: ENDED });
const { page } = opened;
const calls = method =>
  page.evaluate(name => window.bench.calls.filter(call => call.method === name).map(call => call.params), method);
const answer = page.locator('[data-value=fit-answer]');
const line = page.locator('.timeline-forecast');
const slider = page.locator('[data-control=fit-factor]');
const tried = page.locator('[data-control=fit-tried]');
const shows = words => eventually(async () => assert.match(await answer.innerText(), words));
const lastQuery = async () => (await calls('forecast')).at(-1);

const checks = {
  async 'a run that came to no step and did not fail has no such tab; one that is recorded is waited for'() {
    const clean = await openPage(browser, files, { devices: 1, story: 'clean', scene: ENDED });
    assert.equal(await clean.page.locator('[data-tab=fit]').isVisible(), false);
    await clean.context.close();
    const running = await openPage(browser, files, { devices: 1 });
    await running.page.locator('[data-tab=fit]').click();
    const words = running.page.locator('[data-value=fit-answer]');
    await eventually(async () => assert.notEqual(await words.innerText(), ''));
    assertSentence(await words.innerText());
    assert.equal(await running.page.locator('.fit-ways').isVisible(), false);
    await running.context.close();
  },
  async 'the answer, the ways and what is unknown come with the tab; the timeline has the peak while it is open'() {
    assert.equal(await line.isVisible(), false);
    await page.locator('[data-tab=fit]').click();
    assert.equal(await slider.evaluate(one => window.getComputedStyle(one).appearance), 'none', 'of no white track');
    await shows(/fits: its peak is 13 GiB/);
    assertSentence(await page.locator('[data-value=fit-best]').innerText());
    assertSentence(await page.locator('[data-value=fit-parts]').innerText());
    assert.equal(await page.locator('.fit-ways tbody tr').count(), 4);
    assert.equal(await page.locator('.fit-notes li').count(), 3);
    assertSentence(await page.locator('.fit-ways thead').innerText());
    assertSentence(await line.innerText());
    await page.locator('[data-tab=lines]').click();
    await line.waitFor({ state: 'hidden' });
    await page.locator('[data-tab=fit]').click();
    await line.waitFor();
  },
  async 'the batch in the arguments of the run is the recorded one'() {
    const limits = { command: ['python', 'train.py', '--batch', '64'] };
    const run = await openPage(browser, files, { devices: 1, scene: ENDED, limits });
    await run.page.locator('[data-tab=fit]').click();
    await eventually(async () =>
      assert.equal(
        (await run.page.evaluate(() => window.bench.calls)).findLast(one => one.method === 'forecast')?.params.batch,
        64,
      ),
    );
    await run.context.close();
  },
  async 'the slider moves by keys, and the line of the timeline with it'() {
    const top = async () => (await line.boundingBox()).y;
    const before = await top();
    await slider.focus();
    await slider.press('ArrowLeft');
    await slider.press('ArrowLeft');
    await shows(/^0\.5× .*: its peak is 7 GiB/);
    assert.equal(await slider.getAttribute('aria-valuetext'), '0.5×');
    await eventually(async () => assert.ok((await top()) > before));
    await slider.press('End');
    await page.locator('[data-action=fit-cancel]').waitFor();
    assertSentence(await page.locator('.fit-working').innerText());
    await shows(/7 GiB/); // until there is another
    await page.locator('[data-action=fit-cancel]').press('Enter');
    await eventually(async () => assert.equal((await calls('cancelForecast')).length, 1));
    await line.waitFor({ state: 'hidden' });
    assertSentence(await answer.innerText());
    await slider.press('ArrowLeft');
    await shows(/^7\.75× .* does not fit: it needs 94 GiB/);
  },
  async 'a batch is a whole number, and a GPU, modules and segments are part of the query'() {
    await page.locator('[data-control=fit-batch]').fill('10');
    await slider.fill('3');
    assert.equal(await slider.getAttribute('aria-valuetext'), 'batch 3');
    assert.equal(await tried.inputValue(), '3');
    await page.locator('[data-control=fit-expandable]').check();
    await page.locator('[data-control=fit-checkpoint]').click();
    await page.locator('[data-control=fit-checkpoint] vscode-option[value="head.*"]').click();
    await page.locator('[data-control=fit-gpu]').click();
    await page.locator('[data-control=fit-gpu] vscode-option[value=other]').click();
    await page.locator('[data-control=fit-gib]').fill('3.5');
    const query = { gpuBytes: 3.5 * 2 ** 30, batch: 10, factor: 0.3, expandable: true, checkpoint: 'head.*' };
    await eventually(async () => assert.deepEqual(await lastQuery(), query));
    await shows(/^Batch 3 does not fit: it needs 4 GiB/);
  },
  async 'any batch can be typed; what is none is refused in one sentence, and nothing is requested'() {
    await tried.fill('44');
    await eventually(async () => assert.equal((await lastQuery()).factor, 4.4));
    assert.equal(await slider.inputValue(), '44');
    // What makes it fit, not the recorded batch.
    const ways = page.locator('.fit-ways');
    await eventually(async () => assert.match(await ways.locator('thead').innerText(), /\b44\b/));
    assert.deepEqual(
      await ways.locator('tbody tr').evaluateAll(all => all.map(row => row.dataset.fits)),
      Array(4).fill('false'),
    );
    await tried.press('ArrowDown');
    await eventually(async () => assert.equal((await lastQuery()).factor, 4.3));
    assert.equal(await slider.inputValue(), '43');
    const requests = (await calls('forecast')).length;
    for (const none of ['0', '2.5', '641', '']) {
      await tried.fill(none);
      assert.equal(await tried.getAttribute('aria-invalid'), 'true');
      assert.equal(await page.locator('.fit-problem').isVisible(), true);
    }
    assertSentence(await page.locator('.fit-problem').innerText());
    assert.equal((await calls('forecast')).length, requests);
    await tried.fill('640');
    await eventually(async () => assert.equal((await lastQuery()).factor, 64));
    assert.equal(await slider.inputValue(), '640');
    assert.equal(await page.locator('.fit-problem').isVisible(), false);
    await tried.fill('3');
  },
  async 'in a low window, as above a terminal, two more rows are in sight'() {
    const heights = [];
    for (const height of [1000, 430]) {
      const low = await openPage(browser, files, { devices: 1, width: 1280, height, scene: ENDED });
      await low.page.locator('[data-tab=fit]').click();
      await low.page.locator('.fit-ways tbody tr').nth(3).waitFor();
      const [answer, row] = await Promise.all(
        [low.page.locator('.fit-best'), low.page.locator('.fit-ways tbody tr').nth(3)].map(one => one.boundingBox()),
      );
      heights.push(row.y + row.height - answer.y);
      await low.context.close();
    }
    assert.ok(heights[0] - heights[1] > 40, `${heights}`);
  },
  async 'for a screen reader, and in a narrow panel'() {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run('.fit'));
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`),
      [],
    );
    await page.setViewportSize({ width: 300, height: 900 });
    await eventually(async () => {
      const wide = await page
        .locator('.fit, .fit *:visible')
        .evaluateAll(all =>
          all
            .filter(one => one.getBoundingClientRect().right > window.innerWidth)
            .map(one => one.outerHTML.slice(0, 80)),
        );
      assert.deepEqual(wide, []);
    });
    const batch = page.locator('[data-control=fit-batch]');
    const roomy = async () => assert.ok((await slider.boundingBox()).width >= 96, 'the slider can be dragged');
    await roomy();
    await batch.fill('');
    await page.locator('.fit-trial span').waitFor(); // the unit comes back
    await roomy();
    await batch.fill('163840');
    await eventually(async () => assert.equal(await tried.inputValue(), String(0.3 * 163_840)));
    await tried.fill('163840');
    // The arrows come with the pointer.
    for (const field of [batch, tried]) {
      await field.hover();
      const hidden = await field.evaluate(one => one.scrollWidth - one.clientWidth);
      assert.ok(hidden <= 0, 'six digits are in sight');
    }
  },
};

export const result = await runChecks(checks, opened, sentences);
