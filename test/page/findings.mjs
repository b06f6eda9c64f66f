// The findings by mouse and keyboard against the fake host: node test/page/findings.mjs
import assert from 'node:assert/strict';
import { finish, runChecks } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const browser = await openBrowser();
const files = await buildPage();
const { page, errors } = await openPage(browser, files, { width: 420, height: 1100 });
const card = id => page.locator(`[data-finding="${id}"]`);
const opened = () =>
  page.evaluate(() => window.bench.calls.filter(call => call.method === 'openLine').map(call => call.params));
const pause = () => settled(page);

const checks = {
  async 'leaks come first, few are shown, the rest on demand'() {
    const ids = async () => page.locator('[data-finding]').evaluateAll(cards => cards.map(one => one.dataset.finding));
    assert.deepEqual(await ids(), ['leak 0', 'leak 1', 'fragmentation 0']);
    await page.locator('[data-action=all-findings]').click();
    assert.equal((await ids()).length, 4);
    await page.locator('[data-action=all-findings]').click();
    assert.equal((await ids()).length, 3);
  },
  async 'red is for leaks alone'() {
    const colour = id => card(id).evaluate(element => window.getComputedStyle(element).borderLeftColor);
    assert.equal(await colour('leak 0'), 'rgb(241, 76, 76)');
    assert.notEqual(await colour('fragmentation 0'), 'rgb(241, 76, 76)');
  },
  async 'the first is open; the line to change opens first, by mouse and by key'() {
    await card('leak 0').locator('[data-action=open-line]').click();
    await pause();
    assert.deepEqual((await opened()).at(-1), { file: '/home/user/project/train.py', line: 10 });
    await card('leak 1').locator('.finding-toggle').focus();
    await page.keyboard.press('Enter');
    for (const at of [
      { file: '/home/user/project/train.py', line: 12 },
      { file: '/home/user/project/metrics.py', line: 23 },
    ]) {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await pause();
      assert.deepEqual((await opened()).at(-1), at);
    }
    assert.match(await card('leak 1').innerText(), /Open train\.py:12\s+Allocated at metrics\.py:23/);
    await card('leak 1').locator('.finding-toggle').press('Enter');
    assert.equal(await card('leak 1').locator('.finding-body').isVisible(), false);
  },
  async 'a fix is written by its button; without one there is none'() {
    const button = id => card(id).locator('[data-action=apply-fix]');
    assert.equal(await button('leak 0').innerText(), 'Add .detach()');
    await button('leak 0').press('Enter');
    await pause();
    const asked = await page.evaluate(() => window.bench.calls.filter(call => call.method === 'applyFix'));
    assert.deepEqual(
      asked.map(call => call.params),
      [{ finding: 'leak 0' }],
    );
    assert.equal(await button('leak 1').isVisible(), false);
  },
  async 'who holds it: waits, can be stopped, tells'() {
    await card('leak 0').locator('[data-action=who-holds]').click();
    await pause();
    assert.equal(await card('leak 0').locator('[data-part=holders]').getAttribute('data-state'), 'asking');
    assert.ok(await card('leak 0').locator('[data-action=confirm]').isDisabled());
    await card('leak 0').locator('[data-action=stop-asking]').click();
    await pause();
    const text = await card('leak 0').locator('[data-part=holders]').innerText();
    assert.match(
      text,
      /train\(\)\.epoch_loss \(its graph\) train\.py:12\s+graph of the backward pass · 198 of 200 blocks/,
    );
    assert.match(text, /__main__\.seen\[\.\.\.\].*\s+list of 1,200 · 2 of 200 blocks, 6\.00 MB/);
  },
  async 'why it is a leak: evidence, what was ruled out, other lines with their states'() {
    await card('leak 0').locator('[data-action=why]').click();
    await pause();
    const text = await card('leak 0').locator('[data-part=reasons]').innerText();
    for (const part of [/Evidence/, /Ruled out/, /train\.py:112 112\.00 MB plateau/, /4 more steps will tell/])
      assert.match(text, part);
  },
  async 'experiments are told in words'() {
    await card('leak 1').locator('.finding-toggle').click();
    assert.deepEqual(await card('leak 1').locator('[data-experiment]').allInnerTexts(), [
      'gc.collect() freed 3.00 MB of tensors (1,412 objects).',
      'ipc_collect() failed: PyTorch holds no GPU memory in this process.',
    ]);
  },
};

const failed = await runChecks(checks, { page, errors });
await finish(browser, failed);
