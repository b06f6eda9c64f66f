// The page for people who use a keyboard or a screen reader, against the fake host: node test/page/all.mjs access
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { LONG } from '../long.mjs';
import { runChecks } from './checks.mjs';
import { buildPage, changed, openBrowser, openPage, settled, THEMES } from './page.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await openBrowser();
const files = await buildPage();
/** A dark and a light one, of that the colours of a program that runs. The long run has all of all themes. */
const SOME = THEMES.slice(0, 2);
const SCENES = {
  running: { before: 3, fixed: ['leak 1'] },
  empty: {
    phase: 'empty',
    recent: [{ file: '/x/a.gputrace', title: 'a.py', words: '2 MiB' }],
    closed: 'a.py was closed.',
  },
  untrusted: { phase: 'empty', trusted: false },
  starting: { phase: 'starting', detail: 'Waiting for the first CUDA call of train.py.' },
  ended: { phase: 'ended', exitCode: 1, detail: 'train.py ended with exit status 1.' },
  failed: {
    phase: 'failed',
    title: 'train.py',
    detail: 'ImportError: no torch',
    ran: 'It ran with /usr/bin/python3 and ended with status 1.',
    offers: ['chooseInterpreter', 'traceAgain', 'openReport'],
  },
};
/** The others differ by a sentence and a button. */
const SHORT = ['running', 'empty'];
/** The request that each tab repeats. */
const METHODS = { lines: 'sites', flame: 'stackTree', segments: 'segments', compare: 'compareTraces' };

const showTab = async (page, tab, shown = settled) => {
  await page.locator(`[data-tab=${tab}]`).click();
  await shown(page);
};

/** The rows of the table scroll with the arrow keys of the grid around them, which has the focus. */
const scrollsByKeys = (rule, { target }) =>
  rule === 'scrollable-region-focusable' && target.every(one => /^\.(list .*)?scroller$/.test(String(one)));

/** What axe-core finds wrong on the whole page, a line each; in other themes than the first only colours differ. */
async function violations(page, theme, what) {
  const where = `${theme} ${what}`;
  const options = theme === THEMES[0] ? {} : { runOnly: ['color-contrast'] };
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  // A row whose data is on the way has no cells, for a moment.
  await page.waitForFunction(() => document.querySelector('.row.loading:not([hidden])') === null);
  const found = await page.evaluate(how => window.axe.run('.explorer', how), options);
  return found.violations.flatMap(({ id, nodes }) => {
    const colours = node => node.any[0]?.data?.fgColor ?? '';
    const kinds = new Map(nodes.filter(node => !scrollsByKeys(id, node)).map(node => [colours(node), node]));
    return [...kinds.values()].map(({ html, failureSummary }) => {
      const why = failureSummary.replace(/\s+/g, ' ').slice(0, 220);
      return `${where} · ${id}, ${nodes.length} times: ${html.slice(0, 160)} ${why}`;
    });
  });
}

/** The states and tabs of the page in one theme. */
async function wrongIn(theme) {
  const wrong = [];
  const { page, context } = await openPage(browser, files, { theme, width: 420, height: 1100 });
  const whole = LONG || theme === THEMES[0];
  const names = LONG ? Object.keys(SCENES) : SHORT;
  for (const name of whole ? names : names.slice(0, 1)) {
    const scene = SCENES[name];
    const message = { type: 'scene', scene, live: false, devices: 2 };
    await page.evaluate(one => window.bench.host.postMessage(one), message);
    await page.locator(`.explorer[data-phase=${scene.phase ?? 'running'}]`).waitFor();
    wrong.push(...(await violations(page, theme, name)));
    if (whole && name === 'running') wrong.push(...(await wrongTabs(page, theme)));
  }
  await context.close();
  return wrong;
}

async function wrongTabs(page, theme) {
  const wrong = [];
  await page.locator('[data-action=why]').first().click();
  for (const tab of Object.keys(METHODS)) {
    await showTab(page, tab);
    wrong.push(...(await violations(page, theme, tab)));
  }
  await showTab(page, 'lines');
  await page.locator('.list [data-row="1"]').click();
  await page.locator('.list .grid').press('ArrowRight');
  await settled(page);
  await page.locator('.block-row').first().click();
  await settled(page);
  wrong.push(...(await violations(page, theme, 'details')));
  return wrong;
}

const checks = {
  async 'axe finds nothing wrong in any state, tab and theme'() {
    const wrong = [];
    for (const theme of LONG ? THEMES : SOME) wrong.push(...(await wrongIn(theme)));
    assert.ok(wrong.length === 0, wrong.join('\n'));
  },
  async 'each badge, state, series and part of a bar has a tooltip or is named in a legend'() {
    const { page, context } = await openPage(browser, files, { devices: 1, width: 1300, height: 900 });
    const marks = '.badge, .verdict, .finding-word, .ledger-bar i, .legend-item, .timeline-mark, .timeline-gap';
    const bare = await page
      .locator(marks)
      .evaluateAll(all =>
        all.filter(one => one.checkVisibility() && !one.closest('[title]:not([title=""])')).map(one => one.outerHTML),
      );
    assert.ok((await page.locator(marks).count()) > 20);
    assert.deepEqual(bare, []);
    await context.close();
  },
  async 'colours of series that are switched off can be read in each theme'() {
    const wrong = [];
    for (const theme of THEMES) {
      const { page, context } = await openPage(browser, files, { theme, devices: 1, width: 1300 });
      for (const series of ['tensor', 'driver']) await page.locator(`[data-series=${series}]`).click();
      await settled(page);
      await page.evaluate(axe);
      const { violations: found } = await page.evaluate(() =>
        window.axe.run('.timeline', { runOnly: ['color-contrast'] }),
      );
      wrong.push(...found.map(({ nodes }) => `${theme}: ${nodes.map(({ html }) => html).join()}`));
      await context.close();
    }
    assert.deepEqual(wrong, []);
  },
  async 'only the tab that is shown asks'() {
    const { page, context } = await openPage(browser, files, { live: true });
    for (const [index, tab] of Object.keys(METHODS).entries()) {
      await showTab(page, tab, changed);
      await page.evaluate(() => (window.bench.answers.length = 0));
      await page.locator('.scopes [data-control=device]').click();
      await page.locator(`.scopes [data-control=device] vscode-option >> nth=${(index + 1) % 2}`).click();
      await changed(page, 15);
      await page.waitForFunction(name => window.bench.answers.some(one => one.method.startsWith(name)), METHODS[tab]);
      const called = new Set(await page.evaluate(() => window.bench.answers.map(({ method }) => method.split(' ')[0])));
      assert.ok(called.has(METHODS[tab]), `${tab} requests ${METHODS[tab]}, not ${[...called]}`);
      for (const [other, method] of Object.entries(METHODS))
        assert.ok(other === tab || !called.has(method), `${method} is not called while ${tab} is shown`);
    }
    await context.close();
  },
  async 'nothing moves for a user who wants reduced motion'() {
    const scene = SCENES.starting;
    const { page, context } = await openPage(browser, files, { scene });
    const moving = () => page.evaluate(() => document.getAnimations({ subtree: true }).length);
    const ring = page.locator('.state vscode-progress-ring');
    assert.ok(await ring.isVisible());
    await page.evaluate(() => document.body.classList.add('vscode-reduce-motion'));
    await settled(page);
    assert.ok(await ring.isHidden());
    assert.equal(await moving(), 0);
    await context.close();
  },
};

export const result = await runChecks(checks);
