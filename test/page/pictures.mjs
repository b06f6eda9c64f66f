// Pictures of every view of the page, in each theme, wide and narrow, to be looked at:
//   node test/page/pictures.mjs FOLDER [VIEW …]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage, openBrowser, openPage, THEMES } from './page.mjs';

const WIDTHS = { wide: { width: 1200, height: 1100 }, narrow: { width: 320, height: 1100 } };
const LOW = { wide: { width: 1200, height: 420 }, narrow: { width: 320, height: 420 } };
const FAILED = 'No GPU was found. Choose "Use the simulated GPU" in the settings, or run on a machine with one.';
const STARTING = 'Waiting for the first CUDA call of train.py.';

const click = selector => page => page.locator(selector).first().click();
const keys =
  (selector, ...all) =>
  async page => {
    await page.locator(selector).first().focus();
    for (const key of all) {
      await page.keyboard.press(key);
      await page.waitForTimeout(150);
    }
  };
const choose = (control, value) => async page => {
  await click(`[data-control=${control}]`)(page);
  await click(`[data-control=${control}] vscode-option[value=${value}]`)(page);
};
const seen = selector => page => page.locator(selector).first().waitFor();
const low = page => page.locator('.trace > .lower').evaluate(one => one.scrollIntoView({ block: 'end' }));
const grouped = by => ({ steps: [choose('group', by), low] });
const phase = scene => ({ scene, sizes: LOW });

/** What is done on the page before its picture; `scene`: fields of SessionView. */
const VIEWS = {
  findings: { steps: [click('.finding-toggle'), click('[data-action=why]')] },
  holders: { steps: [click('.finding-toggle'), click('[data-action=who-holds]'), seen('[data-action=stop-asking]')] },
  table: { steps: [low, keys('.list .grid', 'Home', 'ArrowDown')] },
  selection: { steps: [low, keys('.list .grid', 'Home', 'Shift+ArrowDown', 'Shift+ArrowDown')] },
  menu: { steps: [low, page => page.locator('[data-row="3"]').click({ button: 'right' })] },
  columns: { steps: [low, click('[data-action=columns]')] },
  filter: { steps: [low, click('[data-control=filter]'), page => page.keyboard.type('model >10XB')] },
  ...Object.fromEntries(['site', 'function', 'module', 'thread', 'device'].map(by => [`by-${by}`, grouped(by)])),
  tree: {
    steps: [choose('group', 'tree'), low, keys('[role=treegrid]', 'Home', ...Array(8).fill('ArrowRight'))],
  },
  timeline: { steps: [keys('.timeline-surface', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter')] },
  zoomed: { steps: [keys('.timeline-surface', '+', '+', 'ArrowLeft'), page => page.mouse.move(200, 400)] },
  peak: { steps: [click('[data-mark=peak]')] },
  flame: {
    steps: [click('[data-tab=flame]'), low, seen('.flame-rect[aria-label^="forward_1,"]')],
    then: [keys('.flame-scroller', 'Home', 'ArrowDown', 'ArrowDown')],
  },
  segments: {
    steps: [click('[data-tab=segments]'), low, seen('.segment-keys button')],
    then: [keys('.segment-scroller', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight')],
  },
  ages: { steps: [click('[data-tab=segments]'), low, choose('segment-colour', 'age')] },
  details: { steps: [click('[data-row="1"]'), click('.block-row[data-index="1"]'), low] },
  compare: { steps: [click('[data-tab=compare]'), low] },
  'one-card': { devices: 1, steps: [] },
  empty: phase({ phase: 'empty' }),
  untrusted: phase({ phase: 'empty', trusted: false }),
  starting: phase({ phase: 'starting', detail: STARTING }),
  failed: phase({ phase: 'failed', title: 'train.py', detail: FAILED }),
  ended: { scene: { phase: 'ended', exitCode: 1, detail: 'train.py ended with exit status 1.' } },
};

const [out = 'build/pictures', ...wanted] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const files = await buildPage();
const browser = await openBrowser();

async function take(name, theme, width) {
  const { scene, devices, steps = [], then = [], sizes = WIDTHS } = VIEWS[name];
  const { page, context, errors } = await openPage(browser, files, { theme, scene, devices, ...sizes[width] });
  page.setDefaultTimeout(5000);
  for (const step of [...steps, ...then]) {
    await step(page).catch(error => errors.push(error.message.split('\n')[0]));
    await page.waitForTimeout(300);
  }
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(out, `${theme}-${name}-${width}.png`) });
  errors.push(...(await page.evaluate(() => window.bench.violations)));
  if (errors.length > 0) console.log(`${theme} ${name} ${width}: ${errors.join('\n  ')}`);
  await context.close();
}

for (const name of wanted.length > 0 ? wanted : Object.keys(VIEWS))
  for (const theme of THEMES) for (const width of Object.keys(WIDTHS)) await take(name, theme, width);
await browser.close();
