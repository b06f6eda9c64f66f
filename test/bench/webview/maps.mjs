// Ledger, details, flame graph and segment map by mouse and keyboard: node test/bench/webview/maps.mjs [PICTURES]
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage, openBrowser, openPage } from './page.mjs';

const pictures = process.argv[2];
if (pictures) mkdirSync(pictures, { recursive: true });
const browser = await openBrowser();
const files = await buildPage();
const { page, context, errors } = await openPage(browser, files, { devices: 1, width: 1000 });
const calls = method =>
  page.evaluate(name => window.bench.calls.filter(call => call.method === name).map(call => call.params), method);
const fact = name => page.locator(`[data-fact=${name}]`).innerText();

async function eventually(check) {
  for (let tries = 0; ; tries++) {
    try {
      return await check();
    } catch (error) {
      if (tries === 20) throw error;
      await page.waitForTimeout(250);
    }
  }
}

const checks = {
  async 'the parts of the ledger sum to the card'() {
    const card = page.locator('.ledger-device');
    const parts = await card
      .locator('[data-bytes]:visible')
      .evaluateAll(all => all.map(one => Number(one.dataset.bytes)));
    const sum = parts.reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - Number(await card.getAttribute('data-total-bytes'))) < 1, `${parts}`);
    const bar = await card.locator('.ledger-bar').boundingBox();
    const widths = await card
      .locator('.ledger-bar i:visible')
      .evaluateAll(all => all.map(one => one.getBoundingClientRect().width));
    assert.ok(Math.abs(widths.reduce((all, one) => all + one, 0) - bar.width) < 1);
    assert.match(await card.locator('[data-key=tensor]').innerText(), /\+30\.20 MB a step/);
    await card.locator('.ledger-lines .link').first().click();
    await eventually(async () => assert.equal((await calls('openLine')).length, 1));
  },
  async 'a row lists its live blocks, sorted, by mouse'() {
    await page.locator('[data-row="3"]').click();
    const list = page.locator('.block-scroller');
    await list.locator('[data-index="0"]').waitFor();
    const sizes = await list
      .locator('.block-row:visible')
      .evaluateAll(all => all.map(one => one.children[1].textContent));
    assert.ok(sizes.length > 1 && sizes.length < 40, `${sizes.length} rows`);
    await page.locator('[data-sort-blocks=age]').click();
    await eventually(async () => {
      const ages = await list
        .locator('.block-row:visible')
        .evaluateAll(all =>
          all.sort((a, b) => a.dataset.index - b.dataset.index).map(one => parseInt(one.children[2].textContent) || 0),
        );
      assert.deepEqual(
        ages,
        [...ages].sort((a, b) => b - a),
      );
    });
    await list.locator('[data-index="1"]').click();
    await eventually(async () => assert.match(await fact('address'), /^0x7f/));
    assert.match(await fact('size'), /as the allocator rounded it/);
    assert.match(await fact('age'), /steps? and .* ago/);
    assert.match(await fact('thread'), /python:2166793/);
    await page.locator('[data-action=copy-address]').click();
    await eventually(async () => assert.equal((await calls('copyText')).at(-1)?.text, await fact('address')));
    await page.locator('[data-action=copy-stack]').click();
    await eventually(async () =>
      assert.match((await calls('copyText')).at(-1)?.text, /File ".*train\.py", line 63, in/),
    );
  },
  async 'the same by keyboard: End reaches a block that was not loaded, Enter shows it'() {
    const list = page.locator('.block-scroller');
    await list.focus();
    await list.press('End');
    await eventually(async () => {
      const active = await list.getAttribute('aria-activedescendant');
      const last = page.locator(`#${active}`);
      assert.equal(Number(await last.getAttribute('aria-posinset')), Number(await last.getAttribute('aria-setsize')));
      assert.notEqual(await last.getAttribute('data-block'), '');
    });
    await list.press('Enter');
    const chosen = list.locator('[aria-selected=true]');
    await eventually(async () => assert.equal(await fact('address'), await chosen.getAttribute('data-block')));
    await list.press('ArrowUp');
    await list.press('Enter');
    await eventually(async () => assert.match(await page.locator('.holder').innerText(), /epoch_loss/));
    await page.locator('.holder .link').focus();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal((await calls('openLine')).at(-1).line, 48));
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    const line = error.stack.split('\n').find(one => one.includes('maps.mjs'));
    console.log(`not ok  ${name}\n${error.message}\n${line}`);
  }
}
const violations = await page.evaluate(() => window.bench.violations);
if (errors.length + violations.length > 0) {
  failed++;
  console.log([...errors, ...violations].join('\n'));
}
await context.close();

const SCENES = {
  async details(shown) {
    await shown.locator('[data-row="3"]').click();
    await shown.locator('[data-index="1"]').click();
    await shown.waitForTimeout(700);
  },
};
for (const theme of pictures ? ['dark', 'light', 'contrast'] : [])
  for (const width of [300, 1000])
    for (const [name, prepare] of Object.entries(SCENES)) {
      const shown = await openPage(browser, files, { devices: 1, width, theme });
      await prepare(shown.page);
      await shown.page.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`) });
      await shown.context.close();
    }
await browser.close();
process.exit(failed > 0 ? 1 : 0);
