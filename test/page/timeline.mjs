// The timeline by mouse and keyboard against the fake host: node test/page/all.mjs timeline
import assert from 'node:assert/strict';
import { inLong } from '../long.mjs';
import { check, eventually, runChecks, sentencesOf } from './checks.mjs';
import { withoutNumbers } from '../masked.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const { page, errors, context } = await openPage(browser, files, { width: 1500 });
const surface = page.locator('.timeline-surface');
const plot = page.locator('.timeline-overlay');
const heading = () => page.locator('.list-head h2').innerText();
const saved = () => page.evaluate(() => window.bench.saved);
const span = () => page.locator('[data-value=span]').innerText();
const action = name => page.locator(`[data-action=${name}]`);
const rowCount = async () =>
  Number(await page.locator('[role=grid], [role=treegrid]').first().getAttribute('aria-rowcount')) - 1;

/** The steps between 0.3 and 0.45 of the plot, which begins behind its labels and hardly grows meanwhile. */
const END = '18\\d';
const SPAN = `12\\d–${END}`;

/** A key in the chart, and the frame that shows what it did. */
async function key(name) {
  await surface.press(name);
  await settled(page);
}

async function brush(from, to, key) {
  await settled(page); // the plot lies where it stays
  const box = await plot.boundingBox();
  const y = box.y + box.height * 0.4;
  if (key) await page.keyboard.down(key);
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 6 });
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

const checks = {
  async 'groups, lines, marks and gaps are named'() {
    await eventually(async () => assert.equal(await page.locator('.legend-groups li').count(), 7));
    const legend = await page.locator('.legend').innerText();
    for (const name of ['train.py:41', 'rest', 'allocated', 'reserved', 'driver'])
      assert.ok(legend.includes(name), name);
    assert.equal(await page.locator('[data-mark=collection]:visible').count(), 2);
    for (const kind of ['peak', 'out-of-memory'])
      assert.equal(await page.locator(`[data-mark=${kind}]:visible`).count(), 1);
    for (const kind of ['paused', 'lost']) assert.equal(await page.locator(`[data-gap=${kind}]:visible`).count(), 1);
    const search = page.locator('[data-gap=search]:visible');
    await search.hover();
    for (const words of [search.getAttribute('title'), page.locator('.timeline-tooltip .dim').innerText()])
      assert.match(await words, /GPU Memory Trace searched for holders, 4,000 ms$/);
    await page.mouse.move(0, 0);
    const label = await surface.getAttribute('aria-label');
    for (const part of ['Highest: 10.', 'Largest: train.py:41', '3 full garbage collections'])
      assert.ok(label.includes(part), label);
  },
  async 'what the areas are is chosen and remembered'() {
    await page.locator('[data-control=stack]').click();
    await page.locator('vscode-option[value=thread-alive]').click();
    await eventually(async () => assert.match(await page.locator('.legend-groups').innerText(), /main thread/));
    assert.deepEqual((await saved()).stack, { by: 'thread', rank: 'alive' });
    await page.locator('[data-control=stack]').click();
    await page.locator('vscode-option[value=none-alive]').click();
    await eventually(async () => assert.equal(await page.locator('.legend-groups li').count(), 0));
    await page.locator('[data-control=stack]').click();
    await page.locator('vscode-option[value=line-alive]').click();
    await eventually(async () => assert.equal(await page.locator('.legend-groups li').count(), 7));
  },
  'the axis is in steps or in time': inLong(check)(async () => {
    await brush(0.5, 0.6, 'Shift');
    assert.match(await span(), /^steps 2\d\d–2\d\d$/);
    await action('axis').click();
    await eventually(async () => assert.match(await span(), /min .* – .*min/));
    assert.equal((await saved()).axis, 'time');
    await action('axis').click();
    await eventually(async () => assert.match(await span(), /^steps/));
    await action('span-clear').click();
    await eventually(async () => assert.ok(await page.locator('.timeline-span').isHidden()));
  }),
  async 'a click shows its moment; a drag is a span, a click ends it; Escape leads back to now'() {
    const usual = await heading();
    await brush(0.5, 0.5);
    await eventually(async () => assert.match(await heading(), /^Live at step 2\d\d · 3 min /));
    await eventually(async () => assert.ok(await page.locator('.timeline-moment').isVisible()));
    const live = () => page.locator('[data-value=live]').innerText();
    assert.equal(await live(), '3 GiB', 'the header shows what was alive then');
    await brush(0.3, 0.45);
    assert.match(await span(), new RegExp(`^steps ${SPAN}$`));
    await settled(page);
    assert.equal(await page.locator('.timeline-tooltip').isVisible(), false, 'it lay over what the drag shows');
    await brush(0.4, 0.4);
    await eventually(async () => assert.ok(await page.locator('[data-value=span]').isHidden()));
    await surface.press('Escape');
    await eventually(async () => assert.equal(await heading(), usual));
    assert.ok(await page.locator('.timeline-moment').isHidden());
    assert.equal(await live(), '8.50 GiB');
  },
  async 'zoomed, the highest of what is seen is not called the peak; a peak outside the span ends the selection'() {
    const opened = await openPage(browser, files, { width: 1000, scene: { phase: 'ended' } });
    const mark = opened.page.locator('[data-mark=peak]:visible');
    const whole = await mark.innerText();
    const { x, y, width, height } = await opened.page.locator('.timeline-overlay').boundingBox();
    await opened.page.mouse.move(x + width * 0.2, y + height * 0.5);
    await opened.page.mouse.wheel(0, -240);
    await eventually(async () => assert.match(await mark.innerText(), / in view \d+\.\d+ GiB$/));
    await opened.page.locator('.timeline-surface').press('Escape');
    await eventually(async () => assert.equal(await mark.innerText(), whole));
    await opened.page.mouse.down();
    await opened.page.mouse.move(x + width * 0.3, y + height * 0.5, { steps: 4 });
    await opened.page.mouse.up();
    const [chosen, shown] = ['span', 'moment'].map(name => opened.page.locator(`[data-value=${name}]`));
    await eventually(async () => assert.match(await chosen.innerText(), /^steps /));
    await mark.press('Enter');
    await eventually(async () => assert.match(await shown.innerText(), / at the peak /));
    assert.equal(await chosen.isVisible(), false);
    assert.deepEqual(opened.errors, []);
    await opened.context.close();
  },
  async 'what is drawn reaches the newest event, though the clock of the page was behind it and no other event comes'() {
    const late = await openPage(browser, files, { width: 1000, devices: 1 });
    await settled(late.page);
    const newestNs = await late.page.evaluate(() => {
      const { host, session } = window.bench;
      const { info } = session.session;
      const ahead = { ...info, durationNs: info.durationNs + 3600e9 };
      const send = host.postMessage.bind(host);
      host.postMessage = message => {
        const all = message.type === 'batch' ? message.messages : [message];
        if (all.some(one => one.method === 'timeline')) {
          host.postMessage = send;
          window.postMessage({ type: 'session', session: { ...session.session, info: ahead }, answers: true });
        }
        send(message);
      };
      window.postMessage({ type: 'changed', revision: 9 });
      return ahead.durationNs;
    });
    await eventually(async () => {
      const requests = await late.page.evaluate(() => window.bench.requests);
      const last = requests.filter(one => one.method === 'timeline').at(-1);
      assert.ok(last.params.series[0].toNs > newestNs);
    });
    assert.deepEqual(late.errors, []);
    await late.context.close();
  },
  async 'without memory there is no axis; what is reserved far above the areas leaves the plot, unless memory ran out'() {
    const labels = async (drawn, story = 'clean') => {
      const own = await openPage(browser, files, { width: 1000, devices: 1, story, limits: { drawn } });
      await own.page.evaluate(() => {
        window.labels = [];
        const { prototype } = window.CanvasRenderingContext2D;
        const { fillText } = prototype;
        prototype.fillText = function (text, ...at) {
          window.labels.push(text);
          fillText.call(this, text, ...at);
        };
      });
      await own.page.setViewportSize({ width: 1010, height: 900 });
      await settled(own.page);
      const all = await own.page.evaluate(() => window.labels.join(' '));
      await own.context.close();
      return all;
    };
    assert.equal(await labels({ tensor: 0, reserved: 0, driver: 0 }), '');
    assert.match(await labels({}), /0 .*GiB/);
    assert.match(await labels({ tensor: 0.01 }), /50 MiB/);
    assert.doesNotMatch(await labels({ tensor: 0.01 }), /GiB/);
    assert.match(await labels({ tensor: 0.01 }, 'leaks'), /GiB/);
    assert.match(await labels({ tensor: 0.01, driver: 4 }), /GiB/);
  },
  async 'the peak is that of the figures in the header, which are newer than what is drawn'() {
    const newer = await openPage(browser, files, { width: 1000, devices: 1 });
    await newer.page.evaluate(() => {
      const { session } = window.bench.session;
      const totals = session.info.totals.map(one => ({ ...one, peakBytes: 12 * 1024 ** 3, peakNs: 300e9 }));
      window.postMessage({
        type: 'session',
        session: { ...session, info: { ...session.info, totals } },
        answers: true,
      });
    });
    const mark = newer.page.locator('[data-mark=peak]');
    await eventually(async () => assert.match(await mark.innerText(), / 12 GiB$/));
    assert.match(await mark.getAttribute('title'), / step 293,/);
    await newer.context.close();
  },
  async 'all figures of the header are of the moment that is shown; of a failed allocation, of the step that it failed in'() {
    const ended = await openPage(browser, files, { width: 1500, devices: 1, scene: { phase: 'ended', exitCode: 1 } });
    const text = value => ended.page.locator(`[data-value=${value}]`).innerText();
    const shows = async (...expected) =>
      eventually(async () =>
        assert.deepEqual([await text('step'), await text('elapsed'), await text('live')], expected),
      );
    const update = (one, ending) =>
      ended.page.evaluate(
        ([step, shown]) => {
          const { session } = window.bench.session;
          const failures = session.info.outOfMemory.map(failure => ({ ...failure, snapshot: { step } }));
          const steps = [{ process: 0, source: 'optimizer', count: 412, lastEndNs: 422e9 }];
          const info = { ...session.info, steps, outOfMemory: failures };
          window.postMessage({ type: 'session', session: { ...session, info, ending: shown } });
        },
        [one, ending],
      );
    await update(391, null);
    const end = ['step 412', '7 min 03 s', '7.40 GiB'];
    await shows(...end);
    const { x, y, width, height } = await ended.page.locator('.timeline-overlay').boundingBox();
    await ended.page.mouse.click(x + width * 0.4, y + height * 0.8);
    await eventually(async () => assert.match(await text('moment'), /^Live at /));
    const [, step, time] = /^Live at (step \d+) · (.+)$/.exec(await text('moment'));
    await shows(step, `at ${time}`, '3 GiB');
    await ended.page.locator('[data-action=moment-now]').click();
    await shows(...end);
    const words = { title: 'As of the failed allocation', when: '', reason: 'it failed', show: 'Show it' };
    await update(393, { timeNs: 401e9 + 3e5, bytes: 2 * 1024 ** 3, ...words });
    await shows('step 393', 'at 6 min 41 s', '2 GiB');
    await ended.page.locator('[data-action=moment-now]').click();
    await shows(...end);
    assert.deepEqual(ended.errors, []);
    await ended.context.close();
  },
  async 'keys go to other moments: the step before, the first and the last one, and back to now'() {
    const usual = await heading();
    const shows = async expected => eventually(async () => assert.match(await heading(), expected));
    for (const [name, expected] of [
      ['ArrowLeft', / 412,/],
      ['ArrowLeft', / 411,/],
      ['Home', / 1,/],
      ['ArrowRight', / 2,/],
      ['PageDown', / 4[34],/],
      ['End', / 412,/],
    ]) {
      await surface.press(name);
      await shows(expected);
    }
    assertSentence(await heading());
    await key('Shift+ArrowRight');
    assert.equal(await span(), 'step 412', 'the step of the moment');
    await surface.press('Escape');
    await eventually(async () => assert.equal(await heading(), usual));
    assert.ok(await page.locator('[data-value=span]').isHidden());
    assert.equal(await page.evaluate(() => document.activeElement.className), 'timeline-surface');
  },
  async 'what a span may show is one row of choices in a narrow panel, whichever is chosen'() {
    const narrow = await openPage(browser, files, { width: 300, devices: 1, scene: { phase: 'ended' } });
    for (const key of ['Shift+ArrowRight', 'Shift+ArrowRight', 'Enter'])
      await narrow.page.locator('.timeline-surface').press(key);
    for (const choice of ['end', 'peak', 'born']) {
      await narrow.page.locator(`[data-action=span-${choice}]`).click();
      await settled(narrow.page);
      const tops = await narrow.page
        .locator('.bar-choices > *')
        .evaluateAll(all => all.map(one => one.getBoundingClientRect().top));
      assert.ok(tops.length === 3 && new Set(tops).size === 1, `${choice}: ${tops}`);
    }
    await narrow.context.close();
  },
  async 'the tooltip covers neither its moment nor what was found'() {
    for (const [width, parts] of [
      [300, [0.2, 0.5, 0.9]],
      [1100, [0.1, 0.9]],
    ]) {
      const own = await openPage(browser, files, { width, height: 694, devices: 1, limits: { findings: 1 } });
      const boxOf = selector => own.page.locator(selector).first().boundingBox();
      const plot = await boxOf('.timeline-overlay');
      for (const part of parts) {
        const x = plot.x + plot.width * part;
        await own.page.mouse.move(x, plot.y + plot.height * 0.8);
        await own.page.locator('.timeline-tooltip').waitFor();
        const [box, found, trace] = await Promise.all(['.timeline-tooltip', '.findings', '.trace'].map(boxOf));
        assert.ok(box.y >= trace.y && box.y + box.height <= found.y, `between run and findings at ${width} px`);
        assert.ok(box.x >= 0 && box.x + box.width <= width, `inside ${width} px`);
        assert.ok(box.x > x || box.x + box.width < x, `not over ${part} of ${width} px`);
      }
      await own.context.close();
    }
  },
  async 'the tooltip names each line that is drawn, or says how many it leaves out; never the one that grows'() {
    for (const [width, height, lines] of [
      [900, 500, 6],
      [300, 694, 4],
      [300, 300, 4],
    ]) {
      const low = await openPage(browser, files, { width, height, scene: { phase: 'ended' } });
      const plot = await low.page.locator('.timeline-overlay').boundingBox();
      await low.page.mouse.move(plot.x + plot.width * 0.45, plot.y + plot.height * 0.6);
      const tooltip = low.page.locator('.timeline-tooltip');
      await tooltip.locator('[data-group="0"]').waitFor();
      const named = await tooltip.locator('[data-group]:not([data-group=rest])').count();
      const rest = await tooltip.locator('div:has(> [data-group=rest])').allInnerTexts();
      const [box, trace] = [await tooltip.boundingBox(), await low.page.locator('.trace').boundingBox()];
      assert.ok(box.y >= trace.y, `${width} × ${height}: it fits`);
      if (width === 900) assert.equal(named, lines, 'in two columns');
      for (const text of rest) assert.equal(/(?:\+|and )(\d+)/.exec(text)?.[1] ?? '0', String(lines - named), text);
      await low.context.close();
    }
  },
  async 'the tooltip names the step of the mark at the peak, and of the moment that a click shows'() {
    const ended = await openPage(browser, files, { width: 1500, scene: { phase: 'ended' } }); // its clock stands still
    const tooltip = () => ended.page.locator('.timeline-tooltip > :first-child').innerText();
    const mark = ended.page.locator('[data-mark=peak]');
    const [, step] = /: (steps? [\d–]+),/.exec(await mark.getAttribute('title'));
    const { x } = await mark.boundingBox();
    const { y, height } = await ended.page.locator('.timeline-overlay').boundingBox();
    for (const beside of [-2, 0, 2]) {
      await ended.page.mouse.move(x + beside, y + height * 0.8);
      await settled(ended.page);
      assert.equal((await tooltip()).split(' · ')[0], step);
    }
    const lines = await ended.page
      .locator('.timeline-tooltip > div')
      .evaluateAll(all =>
        all.map(one => [
          one.querySelector('i')?.dataset.group,
          Number.parseFloat(one.querySelector('b')?.textContent.replace('≤', '')),
        ]),
      );
    const parts = lines
      .filter(([group]) => group !== undefined)
      .map(([, bytes]) => (bytes > 100 ? bytes / 1024 : bytes));
    const [[, total]] = lines.filter(([group, bytes]) => group === undefined && bytes > 0);
    assert.equal(parts.length, 7, 'the groups and the rest');
    assert.ok(Math.abs(parts.reduce((a, b) => a + b) - total) < 0.05, `${parts} are ${total}`);
    await ended.page.mouse.move(x - 300, y + height * 0.8);
    await settled(ended.page);
    const [named] = (await tooltip()).match(/^step \d+ · [^·]+\b/);
    await ended.page.mouse.click(x - 300, y + height * 0.8);
    await settled(ended.page);
    assert.equal(await ended.page.locator('.timeline-tooltip').isVisible(), false, 'it lay over what the click shows');
    const title = await ended.page.locator('[data-value=moment]').innerText();
    assert.ok(title.endsWith(named), `${title}; the tooltip: ${named}`);
    await ended.page.mouse.click(x - 2, y + height * 0.8);
    await eventually(async () =>
      assert.match(
        await ended.page.locator('[data-value=moment]').innerText(),
        new RegExp(` peak in ${step}$`),
        'the peak',
      ),
    );
    assert.deepEqual(ended.errors, []);
    await ended.context.close();
  },
  async 'what a span holds, by mouse: still live, live at its end, its peak, and back'() {
    const [all, usual] = [await rowCount(), await heading()];
    assertSentence(usual);
    await brush(0.3, 0.45, 'Shift');
    await eventually(async () =>
      assert.match(await page.locator('[data-value=kept]').innerText(), /^\d.* GiB still live$/),
    );
    const pressed = () =>
      page.locator('.timeline-bar [aria-pressed=true]').evaluateAll(all => all.map(one => one.dataset.action));
    await eventually(async () => assert.match(await heading(), new RegExp(` ${SPAN}, still live,`)));
    assert.deepEqual(await pressed(), ['span-born'], 'the table shows what its button says');
    assertSentence(withoutNumbers(await heading()));
    await eventually(async () => assert.ok((await rowCount()) < all / 5));
    assert.equal((await saved()).moment.kind, 'born');
    await action('span-end').click();
    await eventually(async () =>
      assert.match(await page.locator('[data-value=reading]').innerText(), new RegExp(`^Reading .* ${END}… \\d+%$`)),
    );
    await eventually(async () => assert.match(await heading(), new RegExp(` ${END},`)));
    await eventually(async () => assert.deepEqual(await pressed(), ['span-end']));
    assert.equal(await page.locator('[data-value=kept]').innerText(), '', 'what stays is another figure');
    assertSentence(withoutNumbers(await heading()));
    await action('span-peak').click();
    await eventually(async () => assert.match(await heading(), / in step \d+,/));
    const [, peakStep] = / in step (\d+),/.exec(await heading());
    const [, first, last] = /(\d+)–(\d+)/.exec(await span());
    assert.ok(Number(peakStep) >= Number(first) && Number(peakStep) <= Number(last), peakStep);
    assertSentence(withoutNumbers(await heading()));
    assert.ok(await action('moment-now').isHidden(), 'the span is said once, and has one way out');
    await action('span-clear').click();
    await eventually(async () => assert.equal(await heading(), usual));
    await eventually(async () => assert.equal(await rowCount(), all));
  },
  async 'what is drawn was asked for as many points as there are pixels'() {
    const asked = await page.evaluate(() => window.bench.answers.flatMap(({ buckets }) => buckets ?? []));
    assert.ok(asked.length > 0 && asked.every(buckets => buckets > 1), asked.join());
  },
  async 'a moment is named once its rows are there'() {
    const usual = [await heading(), await page.locator('[data-value=live]').innerText()];
    const hold = one => page.evaluate(method => window.bench.host.postMessage({ type: 'hold', method }), one);
    await hold('sites');
    await page.locator('[data-mark=peak]').click();
    await eventually(async () => assert.equal((await saved()).moment.kind, 'at'));
    await page.evaluate(
      () => new Promise(done => window.requestAnimationFrame(() => window.requestAnimationFrame(done))),
    );
    const meanwhile = [await heading(), await page.locator('[data-value=live]').innerText()];
    assert.ok(await action('moment-now').isHidden());
    await hold(null);
    assert.deepEqual(meanwhile, usual);
    await eventually(async () => assert.match(await heading(), / at the peak .*,/));
    await action('moment-now').click();
    await eventually(async () => assert.equal(await heading(), usual[0]));
  },
  async 'a moment that another page shows is shown here too, one that is chosen here is passed on'() {
    const usual = await heading();
    const passed = () =>
      page.evaluate(() =>
        window.bench.calls.filter(call => call.method === 'setMoment').map(call => call.params.moment),
      );
    const before = (await passed()).length;
    const shows = shown =>
      page.evaluate(
        scene => window.bench.host.postMessage({ type: 'scene', scene, live: false, devices: 2, story: 'leaks' }),
        { shown },
      );
    const peak = { kind: 'at', timeNs: 200e9, peak: true };
    await shows({ moment: peak, title: 'As of elsewhere', bytes: 3 * 1024 ** 3 });
    await eventually(async () => assert.match(await heading(), /^As of elsewhere,/));
    assert.deepEqual((await saved()).moment, peak);
    assert.equal(await page.locator('[data-value=live]').innerText(), '3 GiB');
    assert.equal((await passed()).length, before, 'it is no choice of this page');
    await action('moment-now').click();
    await eventually(async () => assert.equal(await heading(), usual));
    assert.deepEqual((await passed()).slice(before), [{ kind: 'now' }]);
    await shows({ moment: { kind: 'now' }, title: '' });
    await settled(page);
    assert.equal(await heading(), usual);
  },
  async 'reading can be cancelled: what is shown stays'() {
    const usual = await heading();
    const hold = on => page.evaluate(one => window.bench.host.postMessage({ type: 'holdReading', on: one }), on);
    await hold(true);
    await page.locator('[data-mark=peak]').click();
    await action('moment-cancel').click();
    await hold(false);
    await settled(page);
    assert.equal(await heading(), usual);
    assert.ok(await page.locator('[data-value=reading]').isHidden());
    const calls = await page.evaluate(() => window.bench.calls.filter(call => call.method === 'cancelMoments').length);
    assert.ok(calls > 0);
  },
  async 'the same by keyboard: select, extend, move, apply, clear'() {
    const usual = await heading();
    await surface.focus();
    await key('Shift+ArrowRight');
    const [, first] = /^step (\d+)$/.exec(await span());
    for (const [name, from, to] of [
      ['Shift+ArrowRight', 0, 1],
      ['Shift+PageDown', 0, 42],
      ['Shift+ArrowUp', 1, 43],
    ]) {
      await key(name);
      assert.equal(await span(), `steps ${Number(first) + from}–${Number(first) + to}`, name);
    }
    await surface.press('Enter');
    await eventually(async () => assert.match(await heading(), /\d, still live,/));
    await eventually(async () => assert.match(await page.locator('.said').innerText(), /: .* live$/));
    await surface.press('Escape');
    await eventually(async () => assert.ok(await page.locator('[data-value=span]').isHidden()));
    await page.keyboard.press('Tab');
    assert.match(await page.evaluate(() => document.activeElement.dataset.mark ?? ''), /./);
    await page.locator('[data-mark=peak]').press('Enter');
    await eventually(async () => assert.match(await heading(), / at the peak .*,/));
    const card = page.locator('.peak-card');
    await card.waitFor(); // it has the text of an earlier peak while it is hidden
    await eventually(async () => assert.match(await card.innerText(), / model\./));
    assert.equal((await card.innerText()).split('model.py:92').length, 2, 'a line is named once');
    assert.match(
      await card.getByRole('button', { name: 'model.py:92' }).locator('xpath=..').innerText(),
      /92 allocated/,
    );
    assert.deepEqual(await card.locator('code').allInnerTexts(), ['.detach()']);
    assert.equal(await card.locator('.peak-share[title*=gradients]').count(), 1, 'what is unlabeled may be gradients');
    assertSentence(await card.innerText());
    await card.getByRole('button', { name: 'model.py:88' }).press('Enter');
    await eventually(async () =>
      assert.equal(
        await page.evaluate(() => window.bench.calls.filter(({ method }) => method === 'openLine').length),
        1,
      ),
    );
    await action('moment-now').press('Enter');
    await eventually(async () => assert.equal(await heading(), usual));
    await eventually(async () => assert.ok(await card.isHidden()));
  },
  async 'passes and ranges are bands where they are wide enough'() {
    /** Part of the lowest row of the plot that is in the color of forward passes, and of the row above it in that of ranges. */
    const parts = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('.timeline-surface canvas');
        const { x, y } = canvas.getBoundingClientRect();
        const plot = document.querySelector('.timeline-overlay').getBoundingClientRect();
        const pixels = (from, ...at) =>
          new Uint32Array(from.getImageData(...at.map(px => Math.round(px * window.devicePixelRatio))).data.buffer);
        const one = new window.OffscreenCanvas(1, 1).getContext('2d');
        const part = ([name, up]) => {
          const value = variable => window.getComputedStyle(document.body).getPropertyValue(variable);
          one.fillStyle = `color-mix(in srgb, ${value(name)} 45%, ${value('--vscode-editor-background')})`;
          one.fillRect(0, 0, 1, 1);
          const row = pixels(canvas.getContext('2d'), plot.x - x, plot.bottom - y - up, plot.width, 1);
          return row.filter(colour => colour === pixels(one, 0, 0, 1, 1)[0]).length / row.length;
        };
        const rows = [
          ['--vscode-charts-blue', 11],
          ['--vscode-descriptionForeground', 24],
        ];
        return rows.map(part);
      });
    await key('0');
    await eventually(async () => assert.deepEqual(await parts(), [0, 0]));
    const { x, y, width, height } = await plot.boundingBox();
    await page.mouse.move(x + width * 0.4, y + height / 2);
    for (let i = 0; i < 6; i++) {
      await page.mouse.wheel(0, -240);
      await settled(page);
    }
    await eventually(async () => {
      const [forward, range] = await parts();
      assert.ok(forward > 0.2 && forward < 0.5 && range > 0.1, `${forward}, ${range}`);
    });
    const done = / · (forward|backward|optimizer), [^·]+( · [^·]+, [^·]+)?$/;
    let part = 0.39; // between two passes there is none
    await eventually(async () => {
      part = part > 0.6 ? 0.4 : part + 0.01;
      await page.mouse.move(x + width * part, y + height / 2);
      await settled(page);
      assert.match(await page.locator('.timeline-tooltip > :first-child').innerText(), done);
    });
    await page.mouse.move(0, 0);
    await key('0');
    await eventually(async () => assert.deepEqual(await parts(), [0, 0]));
  },
  async 'left and right go from mark to mark, also to those that Tab leaves out'() {
    const focused = () => page.evaluate(() => document.activeElement.dataset.mark ?? '');
    const places = await page
      .locator('[data-mark]:visible')
      .evaluateAll(all => all.map(one => [one.getBoundingClientRect().x, one.dataset.mark]));
    const kinds = places.sort(([a], [b]) => a - b).map(([, kind]) => kind);
    assert.ok(kinds.includes('collection') && kinds.includes('peak'));
    await page.locator('[data-mark=peak]').focus();
    for (let i = 0; i < kinds.length; i++) await page.keyboard.press('ArrowLeft');
    for (const kind of kinds) {
      assert.equal(await focused(), kind);
      await page.keyboard.press('ArrowRight');
    }
    assert.equal(await focused(), kinds.at(-1), 'the last one stays');
  },
  'a mark shows its moment': inLong(check)(async () => {
    await page.locator('[data-mark=out-of-memory]').click();
    await eventually(async () => assert.match(await heading(), / 39\d,/));
    await page.locator('[data-mark=collection]:visible').first().click();
    await eventually(async () => assert.match(await heading(), / 59,/));
    await action('moment-now').click();
  }),
  async 'an end that holds little is shown as it was before; the user leaves it, and it does not come back'() {
    const ending = {
      timeNs: 400e9,
      title: 'As of the end of step 390',
      show: 'Show the last step',
      when: 'at the end of step 400',
      reason: 'the program freed everything',
      bytes: 3 * 1024 ** 3,
    };
    const opened = await openPage(browser, files, { width: 1000, scene: { phase: 'ended', exitCode: 0, ending } });
    const shows = async (selector, expected) =>
      eventually(async () => assert.match(await opened.page.locator(selector).innerText(), expected));
    await shows('.list-head h2', new RegExp(`^${ending.title}, `));
    await shows('[data-value=moment]', new RegExp(`^${ending.title}$`));
    await shows('[data-value=reason]', new RegExp(` ${ending.reason}$`));
    await shows('[data-value=live]', /^3 GiB$/);
    assertSentence(await opened.page.locator('[data-action=moment-now]').innerText());
    await opened.page.locator('[data-action=moment-now]').click();
    const isLeft = new RegExp(`^(?!${ending.title})`);
    await shows('.list-head h2', isLeft);
    await settled(opened.page);
    await shows('.list-head h2', isLeft);
    assert.deepEqual(opened.errors, []);
    await opened.page.close();
  },
  async 'a program that frees all when it ends never shows nothing: its end is drawn at once as it was before'() {
    const opened = await openPage(browser, files, { width: 1000 });
    const seen = await opened.page.evaluate(async () => {
      const next = type =>
        new Promise(done => {
          const take = ({ data }) =>
            (data.messages ?? [data]).forEach(
              one => one.type === type && (window.removeEventListener('message', take), done(one)),
            );
          window.addEventListener('message', take);
        });
      const session = next('session');
      window.bench.host.postMessage({ type: 'holdReading', on: false });
      const shown = (await session).session;
      const totals = shown.info.totals.map(total => ({ ...total, liveBytes: 0 }));
      const words = { title: 'As of the peak', when: 'at the peak', reason: 'all was freed', show: 'Show the peak' };
      const ending = { timeNs: 400e9, bytes: 3 * 1024 ** 3, ...words };
      const live = document.querySelector('[data-value=live]');
      const texts = [];
      new window.MutationObserver(() => texts.push(live.textContent)).observe(live, { childList: true, subtree: true });
      const ended = { ...shown, info: { ...shown.info, totals }, phase: 'ended', exitCode: 0, ending };
      window.postMessage({ type: 'session', session: ended });
      await window.bench.settled();
      return texts;
    });
    assert.deepEqual(seen, ['3 GiB']);
    await opened.context.close();
  },
  async 'a zoom draws nothing outside the timeline, and hides nothing that is hidden'() {
    const ended = await openPage(browser, files, { width: 1000, scene: { phase: 'ended', exitCode: 0 } });
    const written = await ended.page.evaluate(async () => {
      const all = [];
      const watch = new window.MutationObserver(records => all.push(...records));
      watch.observe(document.querySelector('.explorer'), { subtree: true, attributes: true, attributeOldValue: true });
      const outside = new Set();
      const { getAttribute } = window.Element.prototype;
      window.Element.prototype.getAttribute = function (name) {
        if (this.closest('.trace') && !this.closest('.timeline')) outside.add(this.className);
        return getAttribute.call(this, name);
      };
      const surface = document.querySelector('.timeline-surface');
      for (const deltaY of [-60, -60, 60]) {
        const { left, top, width } = surface.getBoundingClientRect();
        const at = { clientX: left + width / 2, clientY: top + 40 };
        surface.dispatchEvent(new window.WheelEvent('wheel', { deltaY, ...at, bubbles: true, cancelable: true }));
        await window.bench.settled();
      }
      window.Element.prototype.getAttribute = getAttribute;
      all.push(...watch.takeRecords());
      const words = all.map(({ target, attributeName }) => `${target.className} ${attributeName}`);
      const isSame = ({ target, attributeName, oldValue }, i) => {
        const later = all.slice(i + 1).find(one => one.target === target && one.attributeName === attributeName);
        return attributeName === 'hidden' && oldValue === (later ? later.oldValue : target.getAttribute('hidden'));
      };
      return { seen: all.length, wrong: [...outside, ...words.filter((_, i) => isSame(all[i], i))] };
    });
    assert.ok(written.seen > 0);
    assert.deepEqual([...new Set(written.wrong)], []);
    await ended.context.close();
  },
  async 'two points a pixel are asked for; an answer serves until the plot has changed by a tenth'() {
    const { width } = await plot.boundingBox();
    const buckets = await page.evaluate(() => window.bench.answers.filter(one => one.buckets).at(-1).buckets);
    assert.ok(Math.abs(width - buckets) <= buckets * 0.1 + 1, `${buckets} buckets of two points for ${width} pixels`);
  },
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
