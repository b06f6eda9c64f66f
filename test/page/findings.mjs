// The findings by mouse and keyboard against the fake host: node test/page/all.mjs findings
import assert from 'node:assert/strict';
import { eventually, runChecks, sentencesOf } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const sentences = sentencesOf(import.meta.url);
const { assertSentence } = sentences;
const browser = await openBrowser();
const files = await buildPage();
const { page, errors, context } = await openPage(browser, files, { width: 420, height: 1100 });
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
  async 'what was judged anew is requested, though no event came'() {
    await pause();
    const requested = () =>
      page.evaluate(() => window.bench.requests.filter(({ method }) => method === 'findings').length);
    const before = await requested();
    await page.evaluate(() => window.postMessage({ type: 'judged' }));
    await eventually(async () => assert.ok((await requested()) > before));
  },
  async 'what holds a leak is broken before a member, not inside a word'() {
    const path = card('leak 0').locator('.holder-path').first();
    assert.match(await path.evaluate(one => one.innerHTML), /^train\(\)<wbr>\.epoch_loss /);
  },
  async 'red is for leaks alone'() {
    const colour = id => card(id).evaluate(element => window.getComputedStyle(element).borderLeftColor);
    assert.equal(await colour('leak 0'), 'rgb(241, 76, 76)');
    assert.notEqual(await colour('fragmentation 0'), 'rgb(241, 76, 76)');
  },
  async 'amber is for what may grow or costs GPU memory; notes are grey'() {
    const { page: other, context: own } = await openPage(browser, files, { story: 'filling', width: 420, height: 900 });
    await other.locator('[data-action=all-findings]').click();
    const colours = await Promise.all(
      ['rising 0', 'slow 0', 'rounded 0'].map(id =>
        other.locator(`[data-finding="${id}"]`).evaluate(element =>
          [element, element.querySelector('.finding-word')].map(one => {
            const { borderLeftColor, color } = window.getComputedStyle(one);
            return one === element ? borderLeftColor : color;
          }),
        ),
      ),
    );
    const [rising, slow, rounded] = colours;
    assert.deepEqual(slow, rounded);
    for (const place of [0, 1]) assert.notEqual(rising[place], rounded[place]);
    await own.close();
  },
  async 'the line to change opens first, by mouse and by key'() {
    for (const [id, open] of [
      ['leak 0', true],
      ['leak 1', false],
    ])
      assert.equal(await card(id).locator('.finding-body').isVisible(), open, 'the first card is open');
    await card('leak 0').locator('[data-action=open-line]').click();
    await pause();
    assert.deepEqual((await opened()).at(-1), { file: '/home/user/project/train.py', line: 10 });
    await card('leak 1').locator('.finding-toggle').press('Enter');
    for (const [after, at] of [
      ['.finding-toggle', { file: '/home/user/project/train.py', line: 12 }],
      ['[data-action=why]', { file: '/home/user/project/metrics.py', line: 23 }],
      [':focus', { file: '/home/user/project/log.py', line: 51 }],
      [':focus', { file: '/home/user/project/trainer.py', line: 44 }],
    ]) {
      await card('leak 1').locator(after).focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await pause();
      assert.deepEqual((await opened()).at(-1), at);
    }
    assert.match(
      await card('leak 1').innerText(),
      / train\.py:12\s[^]* metrics\.py:23\s[^]* log\.py:51\s[^]* trainer\.py:44\s/,
    );
    assertSentence(await card('leak 1').locator('[data-part=holder]').textContent());
    await card('leak 1').locator('.finding-toggle').press('Enter');
    assert.equal(await card('leak 1').locator('.finding-body').isVisible(), false);
  },
  async 'a fix is written by its button; without one there is none'() {
    const button = id => card(id).locator('[data-action=apply-fix]');
    assert.equal(await button('leak 0').innerText(), 'Add .detach()');
    await button('leak 0').press('Enter');
    await pause();
    const calls = await page.evaluate(() => window.bench.calls.filter(call => call.method === 'applyFix'));
    assert.deepEqual(
      calls.map(call => call.params),
      [{ finding: 'leak 0' }],
    );
    assert.equal(await button('leak 1').isVisible(), false);
  },
  async 'the search for holders shows that it runs, can be stopped, and answers; a holder that is fully known is not searched for'() {
    assert.equal(await card('leak 0').locator('[data-action=who-holds]').isVisible(), false);
    const { page: shared, context: own } = await openPage(browser, files, {
      story: 'shared',
      width: 420,
      height: 1100,
    });
    const part = selector => shared.locator(`[data-finding="leak 0"] ${selector}`);
    assertSentence(await part('[data-action=who-holds]').innerText());
    await part('[data-action=who-holds]').click();
    await settled(shared);
    assert.equal(await part('[data-part=holders]').getAttribute('data-state'), 'asking');
    assert.ok(await part('[data-action=who-holds]').isDisabled());
    await part('[data-action=stop-asking]').click();
    await settled(shared);
    const text = await part('[data-part=holders]').innerText();
    assert.match(text, /train\(\)\.epoch_loss .* train\.py:12\s+.* 198 of 200 /);
    assert.match(text, /__main__\.seen\[\.\.\.\].*\s+.* 1,200 · 2 of 200 .* 6 MiB/);
    assertSentence(text);
    assert.equal((await shared.locator('[data-finding="leak 0"]').innerText()).split('Held by').length, 2, 'once');
    await own.close();
  },
  async 'why it is a leak: evidence, what was ruled out, other lines with their states'() {
    await card('leak 0').locator('[data-action=why]').click();
    await pause();
    const text = await card('leak 0').locator('[data-part=reasons]').innerText();
    assert.deepEqual(await card('leak 0').locator('.finding-facts .unbroken').allInnerTexts(), [
      '820 MiB',
      'step 212',
      'step 12',
    ]);
    for (const part of [/Evidence/, /Ruled out/, /train\.py:112 112 MiB plateau/, / 4 more /]) assert.match(text, part);
  },
};

checks['in a low panel the fix is in sight, and an answer is brought into sight'] = async () => {
  const { page: low, context } = await openPage(browser, files, {
    ...{ width: 300, height: 560, devices: 1, story: 'shared' },
  });
  const inSight = selector =>
    low.locator(`[data-finding="leak 0"] ${selector}`).evaluate(element => {
      const [box, outer] = [element, element.closest('.findings')].map(one => one.getBoundingClientRect());
      return box.top >= outer.top && Math.min(box.bottom, box.top + 40) <= outer.bottom;
    });
  const press = async name => {
    await low.locator(`[data-finding="leak 0"] [data-action=${name}]`).press('Enter');
    await settled(low);
  };
  assert.ok(await inSight('[data-action=apply-fix]'), 'the fix');
  assert.ok(await inSight('[data-part=holder]'), 'its holder');
  assert.equal(await inSight('.finding-facts'), false, 'all of it is not');
  await press('who-holds');
  assert.ok(await inSight('[data-part=holders]'), 'that it is waited for');
  await press('stop-asking');
  assert.ok(await inSight('[data-part=holders] .holders'), 'the answer');
  await press('why');
  assert.ok(await inSight('[data-part=reasons] h3 >> nth=0'), 'the reasons');
  for (const part of ['.finding-toggle', '.finding-word', '[data-action=apply-fix]'])
    assert.ok(await inSight(part), `${part} beside the reasons`);
  const [head, first] = await Promise.all(
    ['.finding-head', '[data-part=reasons] h3'].map(part => low.locator(part).first().boundingBox()),
  );
  assert.ok(head.y + head.height <= first.y + 1, 'the head covers no reason');
  await low.locator('[data-tab=flame]').click();
  await settled(low);
  assert.equal(await low.locator('.findings').evaluate(one => one.scrollTop), 0, 'another tab begins at the top');
  await context.close();
};

checks[
  'the first screen of a side panel: one row of status, one of the card, the timeline, the first finding with its fix, the others a row each, five rows'
] = async () => {
  const { page: narrow, context } = await openPage(browser, files, { width: 360, height: 760, devices: 1 });
  const boxOf = async selector => narrow.locator(selector).first().boundingBox();
  const line = 20;
  assert.ok((await boxOf('.header')).height < 2 * line, 'status');
  assert.ok((await boxOf('.ledger')).height < 2 * line, 'card');
  assert.ok(await narrow.locator('[data-finding="leak 0"] [data-action=apply-fix]').isVisible(), 'the fix');
  for (const id of ['leak 1', 'fragmentation 0'])
    assert.ok((await boxOf(`[data-finding="${id}"]`)).height < 2 * line, id);
  const fifth = await boxOf('.rows .row[data-row="4"]');
  assert.ok(fifth.y + fifth.height <= 760, `the fifth row ends at ${fifth.y + fifth.height}`);
  const [bars, plot, found] = [await boxOf('.ledger'), await boxOf('.timeline'), await boxOf('.findings')];
  assert.ok(bars.y + bars.height <= plot.y && plot.y + plot.height <= found.y, 'bars, timeline, findings');
  const tools = narrow.locator('.timeline-choices');
  assert.equal(await tools.isVisible(), false);
  await narrow.locator('[data-action=timeline-tools]').click();
  await eventually(async () => assert.equal(await tools.isVisible(), true));
  assert.equal((await narrow.evaluate(() => window.bench.saved)).tools, true);
  assert.equal(await narrow.locator('.ledger-legend').isVisible(), false);
  await narrow.locator('.ledger-toggle').click();
  assert.equal(await narrow.locator('.ledger-legend').isVisible(), true);
  await context.close();
};
checks['holders that are known are not searched once the program has ended'] = async () => {
  const { page: ended, context } = await openPage(browser, files, { story: 'outOfMemory', devices: 1 });
  const card = ended.locator('[data-finding="oom 0"]');
  await card.locator('[data-part=holder]').waitFor();
  assert.equal(await card.locator('[data-action=who-holds]').isVisible(), false);
  await context.close();
};
checks['a card whose fix is in the editor says so, traces again by its button, and comes back with the fix gone'] =
  async () => {
    const { page: edited, context } = await openPage(browser, files, { width: 420, devices: 1 });
    const show = scene =>
      edited.evaluate(next => window.bench.host.postMessage({ type: 'scene', scene: next, devices: 1 }), scene);
    const leak = edited.locator('[data-finding="leak 0"]');
    const again = leak.locator('[data-action=trace-again]');
    assert.equal(await again.isVisible(), false);
    await show({ fixed: ['leak 0'] });
    await again.waitFor();
    assertSentence(await leak.innerText());
    assert.equal(await leak.locator('[data-action=apply-fix]').isVisible(), false);
    const colourOf = column =>
      edited
        .locator(`[data-row][data-tone=alarm] [data-column=${column}]`)
        .first()
        .evaluate(cell => window.getComputedStyle(cell).color);
    const isRed = async () => (await colourOf('step')) !== (await colourOf('live'));
    assert.ok(await isRed(), 'another leak is not fixed');
    await show({ fixed: ['leak 0', 'leak 1'] });
    await eventually(async () => assert.equal(await isRed(), false, 'all are'));
    await show({ fixed: ['leak 0'] });
    assert.notEqual(await leak.evaluate(card => window.getComputedStyle(card).borderLeftColor), 'rgb(241, 76, 76)');
    await again.press('Enter');
    await eventually(async () =>
      assert.ok(await edited.evaluate(() => window.bench.calls.some(({ method }) => method === 'traceAgain'))),
    );
    await show({ fixed: [] });
    await leak.locator('[data-action=apply-fix]').waitFor();
    assert.equal(await again.isVisible(), false);
    await context.close();
  };
checks['after a fix there is one button to trace again, and it is the only primary one'] = async () => {
  const failed = { phase: 'ended', exitCode: 1, crashed: true, offers: ['traceAgain', 'openReport'] };
  const scene = { ...failed, fixed: ['leak 0', 'leak 1'] };
  const { page: fixed, context } = await openPage(browser, files, { width: 420, devices: 1, scene });
  await fixed.locator('[data-finding="leak 0"] [data-action=trace-again]').waitFor();
  assert.equal(await fixed.locator('[data-action=trace-again]:visible').count(), 1);
  assert.equal(await fixed.locator('vscode-button[appearance=primary]:visible').count(), 1);
  assert.equal(await fixed.locator('.link[data-action=open-report]').isVisible(), true);
  await context.close();
};
checks['a run is beside the one before it, of its own accord; a link opens the whole comparison'] = async () => {
  const { page: again, context } = await openPage(browser, files, { width: 420, devices: 1 });
  const card = again.locator('.run-before');
  assert.equal(await card.isVisible(), false);
  const show = scene =>
    again.evaluate(next => window.bench.host.postMessage({ type: 'scene', scene: next, devices: 1 }), scene);
  await show({ before: 3 });
  await card.waitFor();
  await eventually(async () => assert.match(await card.innerText(), /no longer grows/));
  const [top, rest] = [await card.boundingBox(), await again.locator('.ledger').boundingBox()];
  assert.ok(top.y + top.height <= rest.y, 'above all figures');
  await card.locator('[data-action=compare-runs]').press('Enter');
  await eventually(async () => {
    const { compare, tab } = await again.evaluate(() => window.bench.saved);
    assert.deepEqual([tab, compare.a, compare.b], ['compare', '3:now', null]);
  });
  await again.locator('#panel-compare [data-compared]').first().waitFor();
  assertSentence(await again.locator('[data-value=compare-sums]').innerText());
  const [head, first] = await Promise.all(
    ['.compare-head', '[data-compared]'].map(selector => again.locator(selector).first().boundingBox()),
  );
  assert.ok(first.y >= head.y + head.height + 2, 'the first row stands apart from the head');
  await show({ phase: 'empty', info: null, before: undefined });
  await eventually(async () => assert.equal(await card.isVisible(), false));
  await context.close();
};
checks['until a run can be judged beside the one before it, one sentence says so'] = async () => {
  const { page: early, context } = await openPage(browser, files, { story: 'clean', devices: 1, scene: { before: 4 } });
  await early.locator('.run-before').waitFor();
  await settled(early);
  const standing = early.locator('[data-value=standing]');
  assert.equal(await standing.isVisible(), false);
  const show = scene =>
    early.evaluate(next => window.bench.host.postMessage({ type: 'scene', scene: next, devices: 1 }), scene);
  await show({ before: 3 });
  await eventually(async () => assert.equal(await standing.isVisible(), true, 'once it is judged, both do'));
  await context.close();
};
checks['beside the verdict on a clean run that has ended, a link leads to what builds up to its peak'] = async () => {
  for (const [story, phase, expected] of [
    ['leaks', 'ended', false],
    ['clean', 'running', false],
    ['clean', 'ended', true],
  ]) {
    const { page: run, context } = await openPage(browser, files, { width: 300, story, devices: 1, scene: { phase } });
    await run.locator('[data-value=standing]').waitFor();
    await (phase === 'ended' && settled(run));
    const link = run.locator('.standing [data-action=built-up]');
    assert.equal(await link.isVisible(), expected, `${story}, ${phase}`);
    if (expected) {
      await link.press('Enter');
      await run.locator('.peak-card').waitFor();
      await run.locator('.peak-cause').waitFor();
    }
    await context.close();
  }
};
checks['in an editor the timeline has the whole width, and findings stand below it, beside the table'] = async () => {
  const { page: wide, context } = await openPage(browser, files, { width: 1200, height: 760, devices: 1 });
  const [found, timeline, table] = await Promise.all(
    ['.findings', '.timeline', '.lower'].map(selector => wide.locator(selector).boundingBox()),
  );
  assert.equal(timeline.width, 1200);
  assert.ok(found.x + found.width <= table.x && found.width >= 300 && found.width <= 360);
  assert.ok(timeline.y + timeline.height <= found.y && Math.abs(table.y - found.y) < 2);
  const surface = wide.locator('.timeline-surface');
  const before = (await surface.boundingBox()).height;
  await wide.locator('.timeline-resizer').focus();
  await wide.keyboard.press('ArrowDown');
  await eventually(async () => assert.equal(Math.round((await surface.boundingBox()).height), Math.round(before) + 16));
  const { x, y } = await wide.locator('.timeline-resizer').boundingBox();
  await wide.mouse.move(x + 300, y + 3);
  await wide.mouse.down();
  await wide.mouse.move(x + 300, y + 3 - 40, { steps: 4 });
  await wide.mouse.up();
  await eventually(async () => assert.equal(Math.round((await surface.boundingBox()).height), Math.round(before) - 24));
  const { timelinePx } = await wide.evaluate(() => window.bench.saved);
  assert.equal(timelinePx, Math.round(before) - 24, 'it is remembered');
  await context.close();
};
checks['nothing of the run before stays once another one is shown, though that has no figures yet'] = async () => {
  const { page: shown, context } = await openPage(browser, files, { width: 420 });
  assert.notEqual(await shown.locator('[data-finding]').count(), 0);
  await shown.evaluate(next => window.bench.host.postMessage({ type: 'scene', scene: next, devices: 1 }), {
    id: 2,
    phase: 'starting',
    info: null,
  });
  await eventually(async () => assert.equal(await shown.locator('.explorer[data-phase=starting]').count(), 1));
  assert.equal(await shown.locator('[data-finding]').count(), 0);
  await context.close();
};

export const result = await runChecks(checks, { page, errors, context }, sentences);
