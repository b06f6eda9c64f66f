// A side panel of 360 px against the fake host: what matters there is not cut: node test/page/all.mjs panel
import assert from 'node:assert/strict';
import { eventually, runChecks, sentencesOf } from './checks.mjs';
import { withoutNumbers } from '../masked.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const PANEL = { width: 360, height: 708, devices: 1 };
const { page, errors, context } = await openPage(browser, files, PANEL);

/** A page of its own for one check. */
async function beside(options, check) {
  const opened = await openPage(browser, files, { ...PANEL, ...options });
  await check(opened.page);
  assert.deepEqual(opened.errors, []);
  await opened.context.close();
}
const isCut = (of, selector) => of.locator(selector).evaluate(one => one.scrollWidth > one.clientWidth);
/** The elements that end beyond what holds them, by their text. */
const beyond = (of, holder, inside) =>
  of.locator(holder).evaluate((box, selector) => {
    const { right } = box.getBoundingClientRect();
    const all = [...box.querySelectorAll(selector)];
    return all.filter(one => one.getBoundingClientRect().right > right + 1).map(one => one.textContent);
  }, inside);

const checks = {
  async 'the clock gives way to the name, and is there where there is room'() {
    const clockIsSeen = of =>
      of.locator('.name').evaluate(name => {
        const clock = name.querySelector('[data-value=elapsed]');
        return clock.getBoundingClientRect().top < name.getBoundingClientRect().bottom;
      });
    assert.equal(await isCut(page, '[data-value=title]'), false);
    await beside({ width: 250 }, async low => {
      assert.equal(await isCut(low, '[data-value=title]'), false);
      assert.equal(await clockIsSeen(low), false);
    });
    await beside({ width: 700 }, async wide => assert.equal(await clockIsSeen(wide), true));
  },
  async 'the name of the program can be read beside its buttons; those that are seldom pressed are in a menu'() {
    await beside({ width: 300 }, async low => {
      assert.equal(await isCut(low, '[data-value=title]'), false);
      for (const item of ['mark', 'save', 'save-page']) {
        assert.equal(await low.locator(`[data-action=${item}]`).isVisible(), false);
        await low.locator('[data-action=more]').press('Enter');
        await low.locator(`.menu [data-item=${item}]`).click();
      }
      await eventually(async () => {
        const methods = await low.evaluate(() => window.bench.calls.map(call => call.method));
        for (const method of ['mark', 'save', 'savePage']) assert.ok(methods.includes(method), methods.join());
      });
    });
    await beside({ width: 1000 }, async wide => {
      assert.equal(await wide.locator('[data-action=save]').isVisible(), true);
      assert.equal(await wide.locator('[data-action=more]').isVisible(), false);
    });
  },
  async 'the options of the timeline are one row that covers nothing, with their words'() {
    await beside({ width: 300 }, async low => {
      await low.locator('[data-action=timeline-tools]').click();
      await low.locator('.timeline-choices').waitFor();
      await settled(low);
      const boxes = await low.locator('.timeline-choices > :not([hidden])').evaluateAll(all =>
        all.map(one => {
          const { top, height, left, right } = one.getBoundingClientRect();
          return { middle: top + height / 2, left, right };
        }),
      );
      assert.equal(boxes.length, 2);
      const [stack, axis] = boxes;
      assert.ok(Math.abs(stack.middle - axis.middle) < 4, JSON.stringify(boxes));
      assert.ok(stack.right <= axis.left && axis.right <= 300, JSON.stringify(boxes));
      assert.equal(await isCut(low, '[data-control=stack] [part=selected-value]'), false);
      assert.equal(await low.locator('.legend-groups li').count(), 5, 'four lines and the rest');
    });
  },
  async 'a zoom has a button in the plot that leaves it; Escape does so too'() {
    await beside({ width: 300 }, async low => {
      const [surface, follow] = [low.locator('.timeline-surface'), low.locator('[data-action=follow]')];
      assert.equal(await follow.isVisible(), false);
      const leave = [() => follow.click(), () => surface.press('Escape')];
      for (const leaves of leave) {
        await surface.press('+');
        await settled(low);
        assertSentence(await follow.innerText());
        const [inside, plot] = [await follow.boundingBox(), await low.locator('.timeline-overlay').boundingBox()];
        assert.ok(inside.x >= plot.x && inside.y >= plot.y && inside.x + inside.width <= plot.x + plot.width);
        assert.ok(inside.y + inside.height <= plot.y + 15, 'it lies in the row of the labels, not on the curve');
        await leaves();
        await settled(low);
        assert.equal(await follow.isVisible(), false);
        assert.equal(await low.evaluate(() => document.activeElement.className), 'timeline-surface');
      }
    });
  },
  async 'a marker of the user has its name beside it'() {
    const scene = { marks: [{ name: 'warm', timeNs: 62e9 }] };
    await beside({ width: 300, scene }, async low => {
      assert.ok(await low.locator('[data-mark=named] > span').isVisible());
      assert.equal(await low.locator('[data-mark=named]').innerText(), 'warm');
    });
  },
  async 'keys walk over rows; Right shows the details of one in the place of the table, and there is a way back'() {
    const [grid, details] = [page.locator('.list .grid'), page.locator('.details')];
    await grid.focus();
    for (const key of ['Home', 'ArrowDown']) await page.keyboard.press(key);
    await settled(page);
    assert.equal(await details.isVisible(), false);
    await page.keyboard.press('ArrowRight');
    await eventually(async () => assert.match(await details.locator('.stack').first().innerText(), /train\.py:88/));
    assert.equal(await grid.isVisible(), false);
    const tops = await Promise.all(
      ['.stack', '.blocks'].map(async part => (await details.locator(part).first().boundingBox()).y),
    );
    assert.ok(tops[0] < tops[1], 'the stack comes first');
    await page.locator('[data-action=back]').click();
    await eventually(async () => assert.equal(await grid.isVisible(), true));
    assert.equal(await grid.evaluate(one => document.activeElement === one), true);
    assert.equal(await page.locator('[data-row="1"]').getAttribute('aria-selected'), 'true');
    const row = page.locator('[data-row="2"]');
    await row.hover();
    await row.locator('.into').click();
    await eventually(async () => assert.equal(await details.isVisible(), true));
    await page.locator('[data-action=back]').click();
  },
  async 'a name that is cut takes all the room beside the figures'() {
    await beside({ width: 280, limits: { rows: 5, findings: 1 } }, async low => {
      const rooms = await low.locator('.rows .row:visible').evaluateAll(rows =>
        rows.flatMap(row => {
          const [site, name, at] = ['[data-column=site]', '.primary', '.at'].map(one => row.querySelector(one));
          const [cell, number] = [site, at].map(one => one.getBoundingClientRect());
          return name.scrollWidth > name.clientWidth ? [[cell.width, cell.right - number.right]] : [];
        }),
      );
      assert.equal(rooms.length, 1);
      const [[width, left]] = rooms;
      assert.ok(width > 85 && Math.abs(left) < 1, `${width} px, ${left} of them free`);
    });
  },
  async 'the file of all lines is the title of their column: rows have number, function and growth at any width'() {
    for (const width of [270, 280, 300, 1000])
      await beside({ width, limits: { rows: 12, findings: 1, oneFile: true } }, async low => {
        const title = low.locator('.list .head [data-column=site]');
        await eventually(async () => assert.equal(await title.innerText(), 'finetune.py'));
        const row = low.locator('.rows .row[data-tone=alarm]:visible').first();
        assert.match(await row.locator('.site-name').innerText(), /^:\d+\s+\w+$/);
        assert.match(await row.locator('[data-column=step]').innerText(), /^\+763/);
        await low.locator('[data-control=group]').click();
        await low.locator('vscode-option[value=function]').click();
        await eventually(async () => assert.equal(await title.innerText(), 'Function'));
      });
  },
  async 'the tooltip of a verdict says nothing twice'() {
    await beside({ width: 1000, limits: { rows: 12 } }, async wide => {
      const titles = await wide.locator('.rows .verdict').evaluateAll(all => all.map(one => one.title));
      const freed = titles.filter(title => /freed within/.test(title));
      assert.deepEqual([...new Set(freed)], ['It is freed within one or two steps.']);
      assert.ok(titles.some(title => title.split('\n').length === 2));
    });
  },
  async 'in a sentence a name that fits into one line stays whole; a longer one may end a line at its underscores'() {
    const broken = new Map();
    for (const width of [200, 300, 340])
      await beside({ width, story: 'shared', limits: { findings: 3, long: true } }, async low => {
        const named = await low.locator('.named:visible').evaluateAll(all => {
          const CHEVRON_PX = 15;
          return all.map(one => {
            const lines = new Set([...one.firstChild.getClientRects()].map(({ top }) => Math.round(top))).size;
            const room = one.closest('h2, p, li, div').clientWidth - CHEVRON_PX;
            Object.assign(one.style, { display: 'inline-block', maxWidth: 'none', width: 'max-content' });
            return [lines > 1, one.offsetWidth <= room, one.textContent];
          });
        });
        broken.set(
          width,
          named.filter(([isBroken]) => isBroken),
        );
      });
    assert.ok(broken.get(200).length > 0);
    assert.deepEqual(
      [...broken.values()].flat().filter(([, fits]) => fits),
      [],
    );
  },
  async 'cards are rows while details or a tab beside the table need about half of the height, and open again after that'() {
    const size = { width: 300, height: 560, limits: { rows: 50, findings: 3 }, scene: { phase: 'ended' } };
    await beside(size, async low => {
      const open = () => low.locator('.finding[data-open=true]').count();
      const hasRoom = async (what, least = 280) => {
        await settled(low);
        assert.equal(await open(), 0, what);
        const { y, height } = await low.locator('.lower').boundingBox();
        assert.ok(height >= least && y + height <= 561, `${what}: ${height} px from ${y}`);
      };
      assert.equal(await open(), 1);
      for (const tab of ['fit', 'segments', 'flame', 'compare']) {
        await low.locator(`[data-tab=${tab}]`).click();
        await hasRoom(tab);
      }
      await low.locator('[data-tab=lines]').click();
      await settled(low);
      assert.equal(await open(), 1);
      await low.locator('.rows .row[data-row="0"]').click({ force: true });
      await low.locator('.list .grid').press('ArrowRight');
      await hasRoom('details', 250);
      await low.locator('[data-action=back]').click();
      await settled(low);
      assert.equal(await open(), 1);
      await low.locator('[data-tab=flame]').click();
      await hasRoom('flame');
      await low.setViewportSize({ width: 900, height: 560 });
      await eventually(async () => assert.equal(await open(), 1, 'in an editor'));
    });
  },
  async 'above the plot of a program that failed, no row is empty where there are cards'() {
    const scene = {
      phase: 'ended',
      exitCode: 1,
      crashed: true,
      ran: 'x',
      detail: 'ValueError: x',
      offers: ['traceAgain'],
    };
    await beside({ width: 300, scene, limits: { findings: 1 } }, async low => {
      const [offers, trace] = await Promise.all(
        ['.offers vscode-button', '.trace'].map(part => low.locator(part).first().boundingBox()),
      );
      const emptyPx = trace.y - offers.y - offers.height;
      assert.ok(emptyPx < 10, `${emptyPx} px`);
    });
  },
  async 'no line of facts begins or ends with a dot, and none is in a line of its own'() {
    for (const width of [250, 268, 280, 300, 330, 360])
      await beside({ width, limits: { findings: 1 } }, async low => {
        const dots = await low.locator('.finding-facts, [data-value=figures]').evaluateAll(all =>
          all.flatMap(facts => {
            const edge = facts.getBoundingClientRect().left;
            const words = [...facts.querySelectorAll('.whole')].map(one => one.getBoundingClientRect());
            return words.slice(1).map((box, i) => {
              const dot = facts.querySelectorAll('i')[i].getBoundingClientRect();
              return box.top > words[i].top + 3 ? dot.right <= edge + 0.5 : dot.left >= words[i].right - 0.5;
            });
          }),
        );
        assert.ok(dots.length > 2 && dots.every(Boolean), `${width} px: ${dots}`);
        assert.match(await low.locator('.finding-facts').innerText(), / 212 · since step 12 · confidence 99%$/);
      });
  },
  async 'under the mouse a row keeps its name and its figures: its button stands in the margin'() {
    for (const oneFile of [false, true])
      await beside({ width: 280, limits: { rows: 5, findings: 1, oneFile } }, async low => {
        const row = low.locator('.rows .row:visible').first();
        const textBox = one =>
          row.locator(one).evaluate(element => {
            const range = document.createRange();
            range.selectNodeContents(element);
            return range.getBoundingClientRect().toJSON();
          });
        const parts = ['.place', '.at', '[data-column=live] > span'];
        const before = await Promise.all(parts.map(textBox));
        await row.hover();
        const [name, number, figure] = await Promise.all(parts.map(textBox));
        assert.deepEqual([name, number, figure], before);
        const own = await row.locator('.into').boundingBox();
        assert.ok(own.x >= 0 && own.x + own.width <= name.left, JSON.stringify([own, name]));
        await row.locator('.into').click();
        await low.locator('.details .stack').first().waitFor();
      });
  },
  async 'of a function that is cut, the method stays; compared lines of one file have its name once'() {
    const limits = { rows: 12, findings: 1, oneFile: true };
    await beside({ width: 300, limits }, async low => {
      const [owner, method] = ['first', 'last'].map(one =>
        low.locator('.rows .qualified:visible').first().locator(`span:${one}-child`),
      );
      assert.deepEqual([await owner.textContent(), await method.textContent()], ['Attention.', 'forward']);
      const widthsOf = of => of.evaluate(one => [one.clientWidth, one.scrollWidth]);
      const [[seen, whole], [all, text]] = [await widthsOf(owner), await widthsOf(method)];
      assert.ok(seen < whole && all === text, `${seen} of ${whole}, ${all} of ${text}`);
    });
    await beside({ width: 300, limits }, async low => {
      await low.locator('[data-tab=compare]').click();
      await low.locator('[data-compared]').first().waitFor();
      assert.equal(await low.locator('.compare-head [data-column=site]').innerText(), 'train.py');
      const names = await low.locator('[data-compared] .place').allInnerTexts();
      assert.ok(names.length > 2 && names.every(name => /^:\d+$/.test(name.replaceAll(/\s/g, ''))), names.join());
    });
  },
  async 'the chosen run has one line: when it began and how it goes, without the name, which the header has'() {
    const title = 'long_name_contrastive_pretraining.py (12)';
    const sessions = [1, 2].map(id => ({ id, title, status: `9:4${id} AM · ended · 1 leak` }));
    await beside({ width: 300, scene: { phase: 'ended', exitCode: 0, sessions } }, async low => {
      const run = low.locator('[data-control=session]');
      assert.equal(await run.getAttribute('title'), `${title} · ${sessions[0].status}`);
      assert.ok((await run.boundingBox()).height < 30, 'one line');
      assert.equal(await run.locator('.chosen').innerText(), sessions[0].status);
      assert.equal(await isCut(low, '[data-control=session] .chosen > span'), false);
    });
  },
  async 'moments to compare are one line each, whole in a tooltip, and leave room for five lines of code'() {
    await beside({ width: 300, height: 700, scene: { phase: 'ended', exitCode: 0, before: 3 } }, async low => {
      await low.locator('[data-action=compare-runs]').click();
      for (const name of ['a', 'b']) {
        const picker = low.locator(`[data-control=compare-${name}]`);
        await picker.waitFor();
        await eventually(async () => assert.match(await picker.getAttribute('title'), /\n.* 73 · /));
        assert.equal((await picker.boundingBox()).height, 22);
        assertSentence(withoutNumbers(await picker.getAttribute('title')));
        const chosen = await picker.evaluate(one => {
          const text = one.shadowRoot.querySelector('.selected-value');
          return [text.textContent.trim(), text.scrollWidth > text.clientWidth];
        });
        assert.deepEqual(chosen, [name === 'a' ? 'end of step 73 · run 1' : 'end of step 73 · run 2', false]);
        const [heading] = await picker.locator('vscode-option[disabled]').allInnerTexts();
        assert.match(heading, name === 'a' ? /^run 1,/ : /^run 2,/);
      }
      await low.evaluate(() => window.postMessage({ type: 'compare', a: { trace: 0, timeNs: 9 } }));
      await low.locator('[data-action=unchanged]').click();
      await settled(low);
      const ends = await low
        .locator('[data-compared]')
        .evaluateAll(all => all.map(one => one.getBoundingClientRect().bottom));
      assert.ok(ends.length === 5 && ends.every(end => end <= 700), String(ends));
    });
  },
  async 'an open list of moments lies over all that is below it'() {
    for (const width of [300, 900]) {
      await beside({ width, height: 2000, scene: { phase: 'ended', exitCode: 0, before: 3 } }, async low => {
        await low.locator('[data-action=compare-runs]').click();
        await low.locator('[data-compared]').first().waitFor();
        for (const name of ['a', 'b']) {
          const list = low.locator(`[data-control=compare-${name}]`);
          await list.click();
          await low.locator(`[data-control=compare-${name}][open][position=below]`).waitFor();
          const [rows, covered] = await list.evaluate(one => {
            const box = one.shadowRoot.querySelector('.listbox').getBoundingClientRect();
            const rows = [...one.querySelectorAll('vscode-option')].map(row => [row, row.getBoundingClientRect()]);
            const seen = rows.filter(([, { top, bottom }]) => top >= box.top && bottom <= box.bottom);
            const isOnTop = ([row, { left, right, top, bottom }]) =>
              [0.05, 0.5, 0.95].every(
                part => document.elementFromPoint(left + part * (right - left), (top + bottom) / 2) === row,
              );
            return [seen.length, seen.filter(row => !isOnTop(row)).map(([row]) => row.textContent)];
          });
          assert.ok(rows >= 4, `${rows} rows`);
          assert.deepEqual(covered, [], `${name} at ${width} px`);
          await list.press('Escape');
        }
      });
    }
  },
  async 'at 280 px, tabs stand apart, the filter has its word, and a span is closed beside its name'() {
    await beside({ width: 280, story: 'outOfMemory' }, async low => {
      const tabs = await low.locator('.tab:visible').evaluateAll(all =>
        all.map(one => {
          const text = document.createRange();
          text.selectNodeContents(one);
          return text.getBoundingClientRect();
        }),
      );
      assert.ok(tabs.length === 5 && tabs.every(({ left }, at) => at === 0 || left - tabs[at - 1].right >= 9));
      const free = await low.locator('[data-control=filter]').evaluate(one => {
        const input = one.shadowRoot.querySelector('input');
        const { font, paddingLeft, paddingRight } = window.getComputedStyle(input);
        if (/, 0\)$/.test(window.getComputedStyle(input, '::placeholder').color)) return -1;
        const pen = Object.assign(document.createElement('canvas').getContext('2d'), { font });
        const inner = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
        return inner - pen.measureText(input.placeholder).width;
      });
      assert.ok(free >= 0, `${free} px`);
      for (const key of ['Shift+ArrowRight', 'Shift+ArrowRight', 'Enter'])
        await low.locator('.timeline-surface').press(key);
      const [name, clear] = ['[data-value=span]', '[data-action=span-clear]'].map(one => low.locator(one));
      await clear.waitFor();
      const [{ y, height }, close] = [await name.boundingBox(), await clear.boundingBox()];
      assert.ok(close.y < y + height && y < close.y + close.height, 'in one line');
    });
  },
  async 'the curve of a card is left out where its figures leave no room'() {
    for (const width of [280, 300, 360, 420, 900])
      await beside({ width }, async one => {
        const curve = await one.locator('[data-open=true] .spark').boundingBox();
        assert.ok(curve === null ? width !== 420 : curve.width >= 32, `${width}: ${curve?.width}`);
      });
  },
  async 'in high contrast, the edges of a pause are as plain as text over areas that are hatched as well'() {
    for (const theme of ['contrast', 'contrastLight'])
      await beside({ theme }, async one => {
        const gap = await one
          .locator('.timeline-gap')
          .first()
          .evaluate(each => {
            const { color, borderLeftColor } = window.getComputedStyle(each);
            return [color, borderLeftColor];
          });
        assert.equal(gap[0], gap[1], theme);
      });
  },
  async 'a compared line keeps its number where its name is cut'() {
    await beside({ width: 230 }, async low => {
      await low.locator('[data-tab=compare]').click();
      const site = low.locator('.compare-rows [data-column=site]', { hasText: 'adam' });
      await site.waitFor();
      assert.equal(await site.locator('.primary').evaluate(one => one.scrollWidth > one.clientWidth), true);
      const [number, cell] = [await site.locator('.at').boundingBox(), await site.boundingBox()];
      assert.ok(number.width > 10 && number.x + number.width <= cell.x + cell.width + 1, JSON.stringify(number));
    });
  },
  async 'what the driver was asked for stays inside the panel'() {
    await page.locator('.ledger-toggle').click();
    assert.ok((await page.locator('.ledger-libraries .key').count()) > 1);
    assert.deepEqual(await beyond(page, '.ledger-keys', '.key, .ledger-lines span'), []);
    await page.locator('.ledger-toggle').click();
  },
  async 'a finding without a line has no row for it'() {
    const card = page.locator('[data-finding="fragmentation 0"]');
    await card.locator('.finding-toggle').click();
    assert.equal(await card.locator('.spark').isVisible(), true);
    const [words, curve] = await Promise.all(
      ['.finding-word', '.spark'].map(selector => card.locator(selector).boundingBox()),
    );
    assert.ok(curve.y < words.y + words.height && words.y < curve.y + curve.height, 'side by side');
    assert.equal((await card.locator('[data-part=places]').boundingBox())?.height ?? 0, 0);
    await card.locator('.finding-toggle').click();
  },
  async 'the flame graph says of which moment it is; the segments too where they follow'() {
    const title = page.locator('[data-value=tab-moment]');
    const shows = async expected =>
      eventually(async () => assert.match((await title.isVisible()) ? await title.innerText() : '', expected));
    await page.locator('[data-tab=flame]').click();
    await shows(/^$/);
    for (const name of ['Shift+ArrowRight', 'Shift+ArrowRight', 'Enter']) {
      await page.locator('.timeline-surface').press(name);
      await settled(page);
    }

    await shows(/\d.* live$/);
    assertSentence(withoutNumbers(await title.innerText()));
    await page.locator('[data-tab=segments]').click();
    await shows(/^$/);
    await page.locator('[data-action=span-end]').click();
    await shows(/^Live .*\d/);
    assertSentence(withoutNumbers(await title.innerText()));
    await page.locator('[data-tab=lines]').click();
    await shows(/^$/);
  },
  async 'the title of the flame graph changes with what it is of, not before'() {
    await beside({ width: 360, scene: { phase: 'ended', exitCode: 0 } }, async run => {
      const title = run.locator('[data-value=tab-moment]');
      const hold = method => run.evaluate(of => window.bench.host.postMessage({ type: 'hold', method: of }), method);
      const asked = () =>
        run.evaluate(() => window.bench.requests.findLast(({ method }) => method === 'stackTree')?.params.moment.kind);
      await run.locator('[data-tab=flame]').click();
      await eventually(async () => assert.equal(await asked(), 'now'));
      await settled(run);
      await hold('stackTree');
      await run.locator('.timeline-surface').click({ position: { x: 120, y: 40 } });
      await eventually(async () => assert.notEqual((await run.evaluate(() => window.bench.saved)).momentTitle, ''));
      assert.equal(await title.isVisible(), false);
      await hold(null);
      await title.waitFor();
      await settled(run);
    });
  },
  async 'compared lines: name and function are apart, the figures stand below each other'() {
    const size = page.viewportSize();
    await page.setViewportSize({ ...size, height: 900 });
    await page.locator('[data-tab=compare]').click();
    const cells = name => page.locator(`.compare-rows [data-column=${name}]`);
    await cells('site').first().waitFor();
    assert.equal(await cells('site').first().textContent(), 'train.py:12 training_step');
    for (const name of ['a', 'b', 'difference']) {
      const ends = await cells(name).evaluateAll(all => all.map(one => one.getBoundingClientRect().right));
      assert.ok(ends.length > 3 && new Set(ends).size === 1, `${name}: ${ends}`);
    }
    const [before, after, differences] = await Promise.all(
      ['a', 'b', 'difference'].map(name =>
        cells(name).evaluateAll(all =>
          all.map(one => {
            const text = document.createRange();
            text.selectNodeContents(one);
            return text.getBoundingClientRect();
          }),
        ),
      ),
    );
    for (const [i, { right }] of before.entries()) {
      assert.ok(after[i].left > right, `${i}: what it is from stands ahead of what it is to`);
      assert.equal(after[i].right, differences[i].right, `${i}: what it is to stands below the difference`);
    }
    assert.equal(await isCut(page, '.compare-rows [data-column=difference] >> nth=0'), false);
    assert.ok((await page.locator('.compare-head').boundingBox()).height < 30, 'one row of titles');
    const head = () => page.locator('.compare-head').evaluate(one => one.scrollHeight - one.clientHeight);
    await page.setViewportSize({ ...size, height: 400 });
    await settled(page);
    assert.equal(await head(), 0, 'no row is drawn over the titles');
    await page.setViewportSize(size);
    const [grid, foot] = [
      await page.locator('.compare-rows').boundingBox(),
      await page.locator('.compare-foot').boundingBox(),
    ];
    assert.ok(foot.y - grid.y - grid.height < 10, 'what did not change follows the rows');
    const lines = () => page.locator('[data-compared]').count();
    const [changed, unchanged] = [await lines(), page.locator('[data-action=unchanged]')];
    assertSentence(await unchanged.innerText());
    await unchanged.click();
    await eventually(async () => assert.equal(await lines(), changed + 1));
    await unchanged.click();
    await eventually(async () => assert.equal(await lines(), changed));
    await page.locator('[data-compared]:not([data-line="0"])').first().click();
    const kept = () =>
      page.evaluate(() => window.bench.calls.findLast(({ method }) => method === 'openLine')?.params.preserveFocus);
    await eventually(async () => assert.equal(await kept(), true, 'one click leaves the keyboard in the rows'));
    await page.locator('[data-tab=lines]').click();
  },
  async 'a name that is cut loses its ending as a whole, so that three dots follow, not four; the filter has a tooltip'() {
    const title = 'segment_loss.py (2)';
    await beside({ width: 220, scene: { title } }, async low => {
      assert.equal(await isCut(low, '[data-value=title]'), true);
      assert.equal(await low.locator('[data-value=title]').textContent(), title);
      for (const name of ['[data-value=title]', '.rows .primary >> nth=0']) {
        const ending = low.locator(`${name} >> .ending`);
        assert.equal(await ending.textContent(), '.py');
        assert.equal(await ending.evaluate(one => window.getComputedStyle(one).display), 'inline-block');
      }
      assert.match(await low.locator('[data-control=filter]').getAttribute('title'), /^Filter /);
    });
  },
  async 'an empty panel lists recent traces, which a click opens, and names the one that was closed'() {
    const recent = ['a', 'b'].map(name => ({ file: `/x/${name}.gputrace`, title: `${name}.py`, words: '2 MiB' }));
    const scene = { phase: 'empty', recent, closed: 'train_of_a_long_name.py was closed. Its trace is kept.' };
    await beside({ width: 280, scene }, async empty => {
      assert.equal(await empty.locator('[data-notice=closed]').innerText(), scene.closed);
      assert.equal(await empty.locator('[data-notice=closed]').getAttribute('role'), 'status');
      const cut = await empty.locator('[data-notice=closed]').evaluate(one => one.scrollWidth > one.clientWidth);
      assert.ok(!cut, 'all of it is seen');
      await empty.getByRole('button', { name: 'b.py' }).click();
      const opened = () => empty.evaluate(() => window.bench.calls.filter(({ method }) => method === 'openRecent'));
      await eventually(async () => assert.deepEqual((await opened())[0]?.params, { file: recent[1].file }));
    });
  },
  async 'out of memory: the headline alone is the headline, why stands below, the end is told in one row'() {
    const scene = { phase: 'ended', exitCode: 1, crashed: true, detail: '', offers: ['traceAgain', 'openReport'] };
    await beside({ story: 'outOfMemory', scene }, async failed => {
      const text = selector => failed.locator(`[data-finding="oom 0"] ${selector}`).innerText();
      assert.match(await text('.finding-toggle'), /^1 GiB did not fit at train\.py:10 (?!.*391)/);
      assert.match(await text('[data-value=cause]'), / train\.py:12 /);
      assert.ok((await failed.locator('.state').boundingBox()).height < 40);
      assert.equal(await failed.locator('.words').isVisible(), false, 'its card is the only message');
      assert.equal(await failed.locator('.offers [data-action]').first().getAttribute('data-action'), 'trace-again');
      assert.equal(await failed.locator('.offers .link[data-action=open-report]').isVisible(), true);
      assert.equal(await failed.locator('.dot').getAttribute('data-phase'), 'crashed');
      const [label, gap] = await Promise.all(
        ['.timeline-mark.second-row > span', '.timeline-gap'].map(one => failed.locator(one).first().boundingBox()),
      );
      assert.ok(label.y + label.height <= gap.y + 2, 'no label lies on the plot');
    });
  },
  async 'out of memory: why it failed stands below label and link; of a long suggestion, what to do is read first'() {
    await beside({ width: 300, story: 'outOfMemory' }, async failed => {
      const card = failed.locator('[data-finding="oom 0"]');
      const tops = await Promise.all(
        ['.finding-word', '[data-action=open-holder]', '[data-value=cause]', '.advice'].map(async one => {
          return (await card.locator(one).boundingBox()).y;
        }),
      );
      assert.deepEqual(
        tops,
        tops.toSorted((a, b) => a - b),
      );
      const [advice, fold] = [card.locator('.advice'), card.locator('[data-action=advice-fold]')];
      assert.match(await advice.innerText(), /^Call .*still alive\. More$/s);
      await fold.press('Enter');
      await eventually(async () => assert.match(await advice.innerText(), /missing\. Less$/));
      assert.equal(await fold.getAttribute('aria-expanded'), 'true');
      assert.equal(await fold.evaluate(one => one === document.activeElement), true);
    });
  },
  async 'out of memory in a low window: its card comes before the comparison, and three rows are in sight'() {
    const sessions = [1, 2].map(id => ({ id, title: `segment_loss.py (${id})`, status: 'failed · 1 leak' }));
    const ended = { phase: 'ended', exitCode: 1, crashed: true, offers: ['traceAgain', 'openReport'] };
    const ending = { timeNs: 401e9, title: 'As of the failed allocation', when: '', reason: '', bytes: 1, show: '' };
    const scene = { ...ended, detail: '', before: 2, sessions, ending };
    await beside({ width: 280, height: 630, story: 'outOfMemory', scene }, async failed => {
      await failed.locator('[data-value=moment]:visible').waitFor();
      await failed.locator('.run-before').waitFor({ state: 'attached' });
      const [row, comparison, card] = await Promise.all(
        ['.rows .row[data-row="2"]', '.run-before', '.finding'].map(one => failed.locator(one).first().boundingBox()),
      );
      assert.ok(row.y + row.height <= 630, `the third row ends at ${row.y + row.height}`);
      assert.ok(comparison.y >= card.y + card.height, 'why it failed comes first');
      assert.ok((await failed.locator('.state').boundingBox()).height < 40, 'its buttons are one row');
    });
  },
  async 'the line that raised an exception is a link'() {
    const raisedAt = { file: '/home/user/project/train.py', line: 18 };
    const scene = {
      phase: 'ended',
      exitCode: 1,
      crashed: true,
      detail: 'ValueError: bad label in a row (train.py:18)',
      raisedAt,
    };
    await beside({ width: 260, story: 'clean', scene }, async failed => {
      const detail = failed.locator('[data-value=detail]');
      assert.equal((await detail.innerText()).replace(/\s+/g, ' '), scene.detail);
      assert.equal(await detail.locator('.whole').evaluate(one => one.getClientRects().length), 1);
      const [place, link] = await Promise.all(['.whole', '.link'].map(one => detail.locator(one).boundingBox()));
      assert.ok(link.y - place.y < 5 && place.height < 25, 'its bracket stands beside the name');
      await detail.getByRole('button', { name: 'train.py:18' }).click();
      const opened = () => failed.evaluate(() => window.bench.calls.filter(({ method }) => method === 'openLine'));
      await eventually(async () => assert.deepEqual((await opened())[0]?.params, raisedAt));
    });
  },
  async 'a program that the user stops is stopping, then stopped, and nothing of it is an error'() {
    for (const [phase, word] of Object.entries({ running: 'Stopping…', ended: 'Stopped' }))
      await beside({ story: 'clean', scene: { phase, stopped: true, detail: word } }, async stopped => {
        assert.equal(await stopped.locator('.dot').getAttribute('aria-label'), word);
        assert.equal(await stopped.locator('[data-value=detail]').innerText(), word);
        assert.equal(await stopped.locator('.state .error').count(), 0);
        assert.equal(await stopped.locator('.dot').getAttribute('data-phase'), phase);
      });
  },
  async 'the list of traces ends with those that were open before'() {
    const sessions = [1, 2].map(id => ({ id, title: `train.py (${id})`, status: 'ended' }));
    await beside({ scene: { sessions } }, async several => {
      const list = several.locator('[data-control=session]');
      const chosen = () => list.evaluate(one => one.value);
      const before = await chosen();
      await list.click();
      await list.locator('vscode-option').last().click();
      const methods = () => several.evaluate(() => window.bench.calls.map(({ method }) => method));
      await eventually(async () => assert.ok((await methods()).includes('openTrace')));
      assert.equal(await chosen(), before, 'the same trace is shown');
      assert.ok(!(await methods()).includes('showSession'));
    });
  },
  async 'after Stop, the buttons stay where they are until the pointer leaves them'() {
    await beside({ story: 'clean' }, async stopped => {
      const buttons = stopped.locator('.buttons > vscode-button:visible');
      const placed = () =>
        buttons.evaluateAll(all => all.map(one => [one.dataset.action, one.getBoundingClientRect().x]));
      const show = scene =>
        stopped.evaluate(next => window.bench.host.postMessage({ type: 'scene', scene: next, devices: 1 }), scene);
      const named = word =>
        eventually(async () => assert.equal(await stopped.locator('.dot').getAttribute('aria-label'), word));
      const stop = stopped.locator('[data-action=stop]');
      await stop.hover();
      const before = await placed();
      await show({ phase: 'running', stopped: true });
      await named('Stopping…');
      assert.equal(await stop.getAttribute('disabled'), '');
      assert.equal(await stop.getAttribute('aria-label'), 'Stopping…');
      assert.deepEqual(await placed(), before);
      await show({ phase: 'ended', stopped: true });
      await named('Stopped');
      assert.deepEqual(await placed(), before);
      await stopped.mouse.move(5, 300);
      await eventually(async () => assert.equal(await stop.isVisible(), false));
      assert.ok(await stopped.locator('[data-action=close-session]').isVisible());
    });
  },
  async 'a program that ended well can be traced again, by a small link in the row of its end'() {
    const scene = { phase: 'ended', exitCode: 0, detail: 'It ended with status 0.', offers: ['traceAgain'] };
    const ending = {
      timeNs: 400e9,
      title: 'As of the end of step 1,390',
      when: '',
      reason: 'it ended',
      bytes: 1,
      show: '',
    };
    await beside({ width: 280, scene: { ...scene, ending } }, async ended => {
      await ended.locator('[data-value=moment]:visible').waitFor();
      for (const row of ['.state', '.timeline-bar'])
        assert.ok((await ended.locator(row).boundingBox()).height < 30, `one line: ${row}`);
      assert.match(
        await ended.locator('[data-value=totals]').innerText(),
        /paused/,
        'figures of such a run are less sure',
      );
      await ended.locator('.state .link[data-action=trace-again]').press('Enter');
      const calls = () => ended.evaluate(() => window.bench.calls.map(({ method }) => method));
      await eventually(async () => assert.ok((await calls()).includes('traceAgain')));
    });
  },
  async 'the button of another moment names where it leads: the last step, from there the end, and back'() {
    const ending = { timeNs: 400e9, title: 'As of the end of step 390', when: '', reason: 'it ended', bytes: 1 };
    await beside({ scene: { phase: 'ended', ending: { ...ending, show: 'Show the last step' } } }, async ended => {
      const button = ended.locator('[data-action=moment-now]:visible');
      const shows = (moment, leads) =>
        eventually(async () => {
          assert.match(await ended.locator('[data-value=moment]').innerText(), moment);
          assert.equal(await button.innerText(), leads);
        });
      await ended.locator('[data-mark=peak]').press('Enter');
      await shows(/peak/i, 'Show the last step');
      await button.click();
      await shows(/step 390$/, 'After exit');
      await button.click();
      await shows(/ended$/, 'Show the last step');
      await button.click();
      await shows(/step 390$/, 'After exit');
    });
  },
  async 'a fix that a newer run was traced with leads to that run, and asks for no other'() {
    await beside({ scene: { fixed: ['leak 0'], newer: 7 } }, async older => {
      const card = older.locator('[data-finding="leak 0"]');
      assertSentence(await card.locator('[data-value=fixed]').innerText());
      assert.equal(await card.locator('[data-action=trace-again]').isVisible(), false);
      await card.locator('[data-action=newer-run]').press('Enter');
      const calls = () => older.evaluate(() => window.bench.calls.filter(({ method }) => method === 'showSession'));
      await eventually(async () => assert.deepEqual((await calls())[0]?.params, { id: 7 }));
    });
  },
  async 'columns without room are left out whole, and the menu of columns has them so'() {
    const item = (of, id) => of.locator(`[data-item=${id}]`);
    await beside({ width: 300 }, async low => {
      await low.locator('[data-action=columns]').click();
      assertSentence(await low.locator('.menu').innerText());
      await item(low, 'allocated').click();
      await eventually(async () => assert.match(await item(low, 'step').innerText(), /no room/));
      assert.doesNotMatch(await item(low, 'allocated').innerText(), /no room/);
      await low.keyboard.press('Escape');
      await low.locator('.row [data-column=allocated]:visible').nth(1).waitFor();
      assert.deepEqual(await beyond(low, '.list .scroller', '.row [data-column]'), []);
    });
    await beside({ width: 1000 }, async wide => {
      await wide.locator('[data-action=columns]').click();
      for (const id of ['peak', 'allocations', 'frees', 'allocated', 'growth']) await item(wide, id).click();
      await wide.keyboard.press('Escape');
      await wide.locator('.list .scroller').evaluate(element => (element.scrollLeft = 10_000));
      await settled(wide);
      const cells = ['.head', '[data-row="2"]'].map(row => wide.locator(`.list ${row} [data-column=frees]`));
      const [head, cell] = await Promise.all(cells.map(one => one.boundingBox()));
      assert.ok(Math.abs(head.x - cell.x) < 1.5, 'the header scrolls with the rows');
    });
  },
  async 'at a peak, the fix of a finding and three rows stay in sight; what the peak consists of is shown below the advice, whole'() {
    await beside({ width: 300, height: 750, scene: { phase: 'ended' }, limits: { findings: 1 } }, async ended => {
      await ended.locator('[data-mark=peak]').press('Enter');
      await ended.locator('.peak-card').waitFor();
      for (const selector of ['[data-action=apply-fix]', '.rows .row[data-row="2"]']) {
        const { y, height } = await ended.locator(selector).boundingBox();
        assert.ok(y + height <= 750, `${selector} ends at ${y + height}`);
      }
      const parts = ended.locator('.peak-shares').first();
      assert.equal(await parts.isVisible(), false);
      await ended.locator('[data-action=peak-parts]').press('Enter');
      assert.equal(await parts.isVisible(), true);
      const advice = await ended.locator('.peak-cause').boundingBox();
      assert.ok(advice.y + advice.height <= 750, 'the advice stays in sight');
      assert.ok(advice.y + advice.height <= (await parts.boundingBox()).y, 'the breakdown is below it');
      const cut = card => [...card.querySelectorAll('*')].filter(one => one.scrollHeight > one.clientHeight + 1).length;
      assert.equal(await ended.locator('.peak-card').evaluate(cut), 0, 'no part of the card scrolls by itself');
      await ended.locator('.rows .row[data-row="2"]').scrollIntoViewIfNeeded();
      const table = await ended.locator('.rows .row[data-row="2"]').boundingBox();
      assert.ok(table.y + table.height <= 751, `the page scrolls to three rows: ${table.y + table.height}`);
      assert.equal(await ended.locator('.peak-card [data-group]').count(), 0, 'colours are those of lines');
    });
    await beside({ width: 752, height: 360, scene: { phase: 'ended' }, limits: { findings: 1 } }, async low => {
      await low.locator('[data-mark=peak]').first().press('Enter');
      await low.locator('.peak-card').waitFor();
      const { height } = await low.locator('.list .grid').boundingBox();
      assert.ok(height > 90, `the page scrolls to the table, ${height} px high`);
    });
  },
  async 'above a terminal, a wide page with a peak has tabs and table in sight; its breakdown is one click away'() {
    await beside({ width: 780, height: 400, scene: { phase: 'ended' }, story: 'clean' }, async low => {
      await low.locator('[data-mark=peak]').first().press('Enter');
      await low.locator('.peak-card').waitFor();
      for (const selector of ['.tab-list', '.list-head']) {
        const { y, height } = await low.locator(selector).first().boundingBox();
        assert.ok(y + height <= 400, `${selector} ends at ${y + height}`);
      }
      await low.locator('[data-action=peak-parts]').click();
      assert.equal(await low.locator('.peak-shares').first().isVisible(), true);
    });
  },
  async 'code on a card breaks between its words, not inside one'() {
    await beside({ width: 300 }, async low => {
      await low.locator('[data-finding="fragmentation 0"] .finding-toggle').click();
      const inside = await low.locator('.finding code:visible').evaluateAll(all =>
        all.map(one => {
          const range = document.createRange();
          const letters = [...one.childNodes].flatMap(({ data = '' }, at) =>
            [...data].map((letter, i) => {
              range.setStart(one.childNodes[at], i);
              range.setEnd(one.childNodes[at], i + 1);
              return [letter, range.getBoundingClientRect().top];
            }),
          );
          const ends = letters.slice(1).map(([letter, top], i) => [letters[i][0] + letter, top > letters[i][1] + 5]);
          return ends.flatMap(([pair, isEnd]) => (isEnd ? [pair] : []));
        }),
      );
      const ends = inside.flat();
      assert.ok(ends.length > 0 && !ends.some(pair => /\w\w/.test(pair)), ends.join(' '));
    });
  },
  async 'details in a side panel have the ages of blocks whole, and no box around a heading'() {
    await beside({ width: 300, limits: { findings: 1 } }, async low => {
      await low.locator('.rows .row:visible .into').first().click({ force: true });
      await low.locator('.block-row:visible').first().waitFor();
      await settled(low);
      assert.equal(await low.evaluate(() => window.getComputedStyle(document.activeElement).outlineStyle), 'none');
      const cut = await low.locator('.block-row:visible > *').evaluateAll(all =>
        all.flatMap(one => {
          const words = one.textContent;
          if (/step/.test(words)) one.textContent = '1,234 steps';
          return one.scrollWidth > one.clientWidth ? [one.textContent] : [];
        }),
      );
      assert.deepEqual(cut, []);
    });
  },
  async 'details leave the page at its top'() {
    for (const height of [320, 380])
      await beside({ width: 300, height, limits: { findings: 1 } }, async low => {
        const row = low.locator('.rows .row:visible').first();
        await low.locator('.explorer').evaluate(one => one.scrollTo(0, 0));
        await row.locator('.into').dispatchEvent('click');
        await low.locator('.details .stack').first().waitFor();
        await settled(low);
        assert.equal(await low.locator('.explorer').evaluate(one => one.scrollTop), 0, `${height} px`);
      });
  },
  async 'in an editor above a terminal, few lines stand beside the card, which is whole at the end of the page'() {
    await beside({ width: 752, height: 365, devices: 1, limits: { rows: 3, findings: 1 } }, async low => {
      const bottom = async selector => {
        const { y, height } = await low.locator(selector).boundingBox();
        return y + height;
      };
      assert.ok((await bottom('.rows .row[data-row="0"]')) <= 365);
      await low.locator('.explorer').evaluate(one => one.scrollTo(0, one.scrollHeight));
      assert.ok((await bottom('.finding-facts')) <= 365);
      assert.ok((await bottom('.finding-facts')) <= (await bottom('.findings')));
    });
  },
  async 'a note on a pause of the recording is no warning, and is read whole in a low window'() {
    const text =
      'Recording was resumed at 2026-11-29 20:44:16 UTC. Steps during the pause are not counted. What was allocated or freed during the pause is unknown, because this version of PyTorch does not report them.';
    await beside({ width: 280, height: 630, limits: { note: { code: 13, text } } }, async paused => {
      const note = paused.locator('[data-notice=losses]');
      await note.locator('summary').click();
      assert.match(await note.innerText(), /^.*1 note\s+Recording was resumed at \d+:44:16 [AP]M\. Steps .* What/);
      assert.equal(await note.locator('ul').evaluate(one => one.scrollHeight - one.clientHeight), 0);
      assert.match(await paused.locator('[data-value=step]').getAttribute('title'), /not counted/);
      assert.equal(await note.locator('.codicon-warning').count(), 0);
      assert.equal(await note.evaluate(one => one.classList.contains('warning')), false);
    });
  },
  async 'a program whose recording is paused says so in the first row'() {
    for (const recording of [true, false])
      await beside({ width: 300, scene: { recording } }, async paused => {
        const name = await paused.locator('.name').boundingBox();
        const word = paused.locator('[data-value=paused]');
        assert.equal(await word.isVisible(), !recording);
        if (recording) return;
        const box = await word.boundingBox();
        assert.ok(box.y + box.height <= name.y + name.height + 2, JSON.stringify([name, box]));
      });
  },
  async 'a paused program keeps its name in the narrowest panel, and is paused once'() {
    const sessions = [1, 2].map(id => ({ id, title: 'train.py', status: 'paused' }));
    for (const scene of [{ recording: false }, { recording: false, sessions }])
      await beside({ width: 280, scene }, async paused => {
        assert.equal(await isCut(paused, '[data-value=title]'), false);
        assert.equal(await paused.locator('[data-value=paused]').isVisible(), scene.sessions === undefined);
      });
  },
  async 'labels of marks stand above the curve, and a mark without one crosses none'() {
    const boxOf = async selector => page.locator(selector).first().boundingBox();
    const [label, plot] = [
      await boxOf('[data-mark=out-of-memory] > span:visible'),
      await boxOf('.timeline-gap:visible'),
    ];
    assert.ok(label.y + label.height <= plot.y + 2, JSON.stringify([label, plot]));
    const mark = await boxOf('[data-mark=collection]:visible');
    assert.ok(mark.height <= 10 && mark.y > label.y + label.height, JSON.stringify([mark, label]));
  },
  async 'a program that failed at once: why, by which Python, and what can be done'() {
    const ran = 'It ran with /usr/bin/python3 and ended with status 1.';
    const offers = ['chooseInterpreter', 'traceAgain'];
    const scene = { phase: 'ended', exitCode: 1, crashed: true, detail: 'ImportError: no torch', ran, offers };
    await beside({ story: 'clean', devices: 0, scene }, async failed => {
      assert.deepEqual((await failed.locator('.detail.error').innerText()).split(/\n+/), [scene.detail, ran]);
      const shown = await failed
        .locator('.state [data-action]:visible')
        .evaluateAll(all => all.map(one => one.dataset.action));
      assert.deepEqual(shown, ['choose-interpreter', 'trace-again']);
      assert.equal(await failed.locator('.state vscode-button[data-action=choose-interpreter]').count(), 1, 'a button');
      assert.equal(await failed.locator('.state .link[data-action=trace-again]').count(), 1, 'a link');
    });
    // Of a mistake in the program its Python is not to blame.
    const mistake = { ...scene, detail: 'ValueError: bad label (train.py:18)', offers: ['traceAgain'] };
    await beside({ story: 'clean', scene: mistake }, async failed => {
      const card = failed.locator('.detail.error');
      assert.deepEqual([await card.innerText(), await card.getAttribute('title')], [mistake.detail, ran]);
      assert.match(await failed.locator('[data-value=totals]').innerText(), /^Exit status 1/);
    });
  },
  async 'until the host says what there is, nothing is offered'() {
    const unheard =
      'onmessage = ({ data }) => (data.messages ?? [data]).forEach(() => postMessage({ type: "response", id: -1, ok: true }))';
    const silent = new Map([...files, ['/fakeHost.js', unheard]]);
    const opened = await openPage(browser, silent, PANEL);
    assert.equal(await opened.page.locator('[data-action]:visible').count(), 0);
    assert.ok(await opened.page.locator('[data-value=detail]').isVisible());
    await opened.context.close();
  },
  async 'an empty panel in a workspace that is not trusted leads to its trust'() {
    await beside({ scene: { phase: 'empty', trusted: false } }, async untrusted => {
      const shown = await untrusted
        .locator('.state [data-action]:visible')
        .evaluateAll(all => all.map(one => one.dataset.action));
      assert.deepEqual(shown, ['manage-trust', 'try-sample', 'open-trace']);
    });
  },
  async 'a program without a leak has nothing red'() {
    await beside({ story: 'clean' }, async clean => {
      await clean.locator('.rows .row').first().waitFor();
      const red = await clean.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter(one => one.checkVisibility())
          .filter(one => {
            const { color, stroke, borderLeftColor, borderLeftWidth } = window.getComputedStyle(one);
            const used = [color, stroke, ...(borderLeftWidth === '0px' ? [] : [borderLeftColor])];
            return used.some(value => {
              const [r, g, b] = (value.match(/[\d.]+/g) ?? []).map(Number);
              return r > 180 && g < 110 && b < 110;
            });
          })
          .map(one => `${one.className} ${one.textContent}`),
      );
      assert.deepEqual(red, []);
    });
  },
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
