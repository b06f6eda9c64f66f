// Ledger, details, flame graph and segment map by mouse and keyboard: node test/page/all.mjs maps
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inLong } from '../long.mjs';
import { check, eventually, runChecks, sentencesOf } from './checks.mjs';
import { buildPage, openBrowser, openPage } from './page.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const { page, errors, context } = await openPage(browser, files, { devices: 1, width: 1620, height: 1150 });
const calls = method =>
  page.evaluate(name => window.bench.calls.filter(call => call.method === name).map(call => call.params), method);
const fact = name => page.locator(`[data-fact=${name}]`).innerText();

const paint = () =>
  page.evaluate(() => new Promise(done => window.requestAnimationFrame(() => window.requestAnimationFrame(done))));
/** Pixels of the segment map that hold something. */
const inked = () =>
  page.evaluate(() => {
    const canvas = document.querySelector('.segment-frame canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++;
    return count;
  });
const node = name => page.locator(`.flame-rect[aria-label^="${name},"]`);

/** What axe-core finds wrong inside an element. */
async function violationsIn(selector) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(inside => window.axe.run(inside), selector);
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(one => one.html.slice(0, 200)).join(' ')}`,
  );
}

const checks = {
  async 'the parts of the ledger sum to the card'() {
    const card = page.locator('.ledger-device');
    const parts = await page
      .locator('.ledger-legend [data-bytes]:visible')
      .evaluateAll(all => all.map(one => Number(one.dataset.bytes)));
    const sum = parts.reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - Number(await card.getAttribute('data-total-bytes'))) < 1, `${parts}`);
    const bar = await card.locator('.ledger-bar').boundingBox();
    const widths = await card
      .locator('.ledger-bar i:visible')
      .evaluateAll(all => all.map(one => one.getBoundingClientRect().width));
    assert.ok(Math.abs(widths.reduce((all, one) => all + one, 0) - bar.width) < 1);
    const legend = page.locator('.ledger-legend');
    assertSentence(await legend.locator('[data-key=tensor]').innerText());
    assertSentence(await legend.locator('.ledger-libraries').innerText());
    await legend.locator('.ledger-lines .link').first().click();
    await eventually(async () => assert.equal((await calls('openLine')).length, 1));
  },
  async 'a card whose size is not known has no bar, which would look full'() {
    const { page: three, context } = await openPage(browser, files, { devices: 3, width: 1200 });
    const bars = three.locator('.ledger-bar');
    await bars.nth(2).waitFor({ state: 'attached' });
    const visible = await bars.evaluateAll(all => all.map(one => one.checkVisibility({ checkVisibilityCSS: true })));
    assert.deepEqual(visible, [true, true, false]);
    assert.match(await three.locator('[data-device="2"] .ledger-whole').innerText(), /^9\.60 GiB$/);
    await context.close();
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
    assertSentence((await fact('size')).replace(/^.*, /, ''));
    assert.match(await fact('age'), /steps? and .* ago/);
    assert.match(await fact('thread'), /main thread/);
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
    // At once: before the row is here.
    await list.evaluate(at => {
      for (const key of ['End', 'Enter']) at.dispatchEvent(new window.KeyboardEvent('keydown', { key, bubbles: true }));
    });
    await eventually(async () => {
      const active = await list.getAttribute('aria-activedescendant');
      const soon = { timeout: 500 }; // the row of before may be gone by now
      const last = page.locator(`#${active}`);
      const [at, of] = [await last.getAttribute('aria-posinset', soon), await last.getAttribute('aria-setsize', soon)];
      assert.equal(at, of);
      assert.notEqual(await last.getAttribute('data-block', soon), '');
    });
    const chosen = list.locator('[aria-selected=true]');
    await eventually(async () => assert.equal(await fact('address'), await chosen.getAttribute('data-block')));
    const last = await fact('address');
    await list.press('ArrowUp');
    await list.press('Enter');
    await eventually(async () => {
      assert.notEqual(await fact('address'), last);
      assert.equal(await fact('address'), await chosen.getAttribute('data-block'));
    });
    await eventually(async () => assert.match(await page.locator('.holder').innerText(), /epoch_loss/));
    await page.locator('.holder .link').focus();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal((await calls('openLine')).at(-1).line, 48));
  },
  'screen readers can read ledger and details': inLong(check)(async () => {
    for (const part of ['.ledger', '.details']) assert.deepEqual(await violationsIn(part), []);
  }),
  async 'a flame graph: click zooms, Escape goes back, what is narrower than its text has none'() {
    await page.locator('[data-tab=flame]').click();
    await node('training_step').waitFor();
    const [whole, step] = [await node('main').boundingBox(), await node('training_step').boundingBox()];
    assert.ok(step.width > whole.width * 0.7 && step.width < whole.width * 0.8, `${step.width} of ${whole.width}`);
    await node('evaluate').click();
    await eventually(async () => assert.ok((await node('evaluate').boundingBox()).width > whole.width * 0.9));
    assert.equal(await node('training_step').count(), 0);
    assert.match(await page.locator('[data-value=flame-status]').innerText(), /evaluate · train\.py:64 · .*%/);
    await page.keyboard.press('Escape');
    await page.locator('.flame-scroller').press('Escape');
    await node('training_step').waitFor();
  },
  async 'library frames are one; without folding they are there, grey'() {
    assert.equal(await node('torch: 4 frames').count(), 2);
    await page.locator('[data-action=fold]').click();
    await node('_call_impl').first().waitFor();
    assert.equal(await node('_call_impl').count(), 8);
    assert.equal(await node('_call_impl').first().getAttribute('data-hue'), '');
    assert.notEqual(await node('training_step').getAttribute('data-hue'), '');
    await page.locator('[data-action=fold]').click();
    await eventually(async () => assert.equal(await node('_call_impl').count(), 0));
  },
  async 'arrows walk the tree, Enter zooms, Ctrl+Enter opens the line, Space shows details'() {
    const flame = page.locator('.flame-scroller');
    const active = page.locator('.flame-rect[aria-selected=true]');
    await flame.focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft']) await flame.press(key);
    await eventually(async () => assert.match(await active.innerText(), /^training_step/));
    assert.equal(await flame.getAttribute('aria-activedescendant'), await active.getAttribute('id'));
    assert.equal(await active.getAttribute('aria-level'), '3');
    await flame.press('Control+Enter');
    await eventually(async () =>
      assert.deepEqual((await calls('openLine')).at(-1), { file: '/home/user/project/train.py', line: 63 }),
    );
    await flame.press('Enter');
    await eventually(async () => assert.equal(await node('evaluate').count(), 0));
    await flame.press(' ');
    await eventually(async () => assert.match(await page.locator('.details h2').innerText(), /training_step/));
    await page.locator('[data-action=zoom-out]').click();
    await page.locator('[data-action=zoom-out]').click();
    await eventually(async () => assert.equal(await page.locator('[data-action=zoom-out]').isVisible(), false));
  },
  async 'a search marks frames and says what they hold; a double click opens the line'() {
    await page.locator('[data-control=flame-search]').click();
    await page.keyboard.type('forward_3');
    await eventually(async () =>
      assert.match(await page.locator('.flame .toolbar [role=status]').innerText(), /^22 matches, /),
    );
    assert.ok((await page.locator('.flame-rect[data-match]').count()) > 2);
    await page.keyboard.press('Enter');
    await eventually(async () =>
      assert.match(await page.locator('[data-value=flame-status]').innerText(), /^forward_3/),
    );
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.mouse.move(10, 10);
    await node('forward_2').first().dblclick();
    await eventually(async () => assert.equal((await calls('openLine')).at(-1).line, 12));
  },
  'screen readers can read the flame graph': inLong(check)(async () => {
    assert.deepEqual(await violationsIn('.flame'), []);
  }),
  async 'bytes that were churned are another question'() {
    await page.locator('[data-control=flame-weight]').click();
    await page.locator('[data-control=flame-weight] vscode-option[value=churn]').click();
    await eventually(async () =>
      assert.match(await page.locator('.flame-rect.whole').getAttribute('aria-label'), /^all, \d[\d.]* GiB/),
    );
    assert.equal((await page.evaluate(() => window.bench.saved)).flame.weight, 'churn');
    await page.locator('[data-tab=lines]').click();
  },
  async 'the segment map: a click on a block shows its details, a double click opens its line'() {
    await page.locator('[data-tab=segments]').click();
    const summary = page.locator('[data-value=fragmentation]');
    await eventually(async () => assert.match(await summary.innerText(), /^300 /));
    assertSentence(await summary.innerText());
    const box = await page.locator('.segment-frame').boundingBox();
    await page.mouse.move(box.x + 89, box.y + 11);
    await eventually(async () =>
      assert.match(
        await page.locator('.segment-frame .tooltip').innerText(),
        /segment 6 of 300: 1 GiB/,
        'the largest first',
      ),
    );
    await paint();
    assert.ok((await inked()) > 1000, 'the canvas is drawn');
    await page.mouse.click(box.x + 126, box.y + 11);
    await eventually(async () => assert.match(await fact('address'), /^0x7f/));
    assert.match(await page.locator('[data-value=segment-status]').innerText(), /segment 6 of 300/);
    const before = (await calls('openLine')).length;
    const now = await page.locator('.segment-frame').boundingBox(); // the details have taken room
    await page.mouse.dblclick(now.x + 140, now.y + 11);
    await eventually(async () => assert.ok((await calls('openLine')).length > before));
  },
  async 'the same by keyboard: arrows walk over blocks and gaps, Enter shows one, Ctrl+Enter opens its line'() {
    const map = page.locator('.segment-scroller');
    const status = page.locator('[data-value=segment-status]');
    await map.focus();
    for (let i = 0; i < 4; i++) await map.press('PageUp');
    await map.press('Home');
    await eventually(async () => assert.match(await status.innerText(), /free · segment 1 of 300/));
    await map.press('ArrowRight');
    await eventually(async () => assert.match(await status.innerText(), /py:\d+ .*segment 1 of 300/));
    const address = await fact('address');
    await map.press('Enter');
    await eventually(async () => assert.notEqual(await fact('address'), address));
    await map.press('ArrowDown');
    await eventually(async () => assert.match(await status.innerText(), /segment 2 of 300/));
    const before = (await calls('openLine')).length;
    await map.press('Control+Enter');
    await eventually(async () => assert.equal((await calls('openLine')).length, before + 1));
    await page.locator('[data-action=largest-gap]').click();
    await eventually(async () => assert.match(await status.innerText(), /^1 GiB free/));
  },
  async 'a line is seen alone, colours go by age, bars fill the width'() {
    const key = page.locator('.segment-keys button').first();
    await key.click();
    assert.equal(await key.getAttribute('aria-pressed'), 'true');
    await key.click();
    await page.locator('[data-control=segment-colour]').click();
    await page.locator('vscode-option[value=age]').click();
    await eventually(async () => assert.match(await page.locator('.segment-keys').innerText(), /2 to 8 steps/));
    const narrow = await inked();
    await page.locator('[data-action=to-scale]').click();
    await paint();
    assert.ok((await inked()) > narrow * 1.2, 'bars are longer');
    const { colourBy, toScale } = (await page.evaluate(() => window.bench.saved)).segments;
    assert.deepEqual([colourBy, toScale], ['age', false]);
  },
  'screen readers can read the segment map': inLong(check)(async () => {
    assert.deepEqual(await violationsIn('.segments'), []);
  }),
  'ten thousand blocks scroll within a frame': inLong(check)(async () => {
    const longest = await page.evaluate(async () => {
      const scroller = document.querySelector('.segment-scroller');
      const spent = [];
      for (let i = 0; i < 60; i++) {
        scroller.scrollTop = i * 97;
        const started = await new Promise(done => window.requestAnimationFrame(done));
        spent.push((await new Promise(done => window.requestAnimationFrame(done))) - started);
      }
      return spent.sort((a, b) => a - b)[57];
    });
    console.log(`        95 % of two frames within ${longest.toFixed(1)} ms`);
  }),
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
