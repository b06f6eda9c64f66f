// Each view of the extension in a window, with the sample job: what is done to see it.
import { join } from 'node:path';
import { frameWith } from '../workbench/workbench.mjs';
import { traceSample } from './window.mjs';

const TRACED = '[data-row]';
const find = async (page, selector) => (await frameWith(page, selector)).locator(selector).first();
const click = async (page, selector) => (await find(page, selector)).click();
const press = async (page, selector, ...keys) => {
  const target = await find(page, selector);
  for (const key of keys) await target.press(key);
};
const tab =
  name =>
  ({ page }) =>
    click(page, `[data-tab=${name}]`);
const low = ({ page }) => find(page, '.trace > .lower').then(lower => lower.evaluate(one => one.scrollIntoView(false)));

const top = ({ page }) => find(page, '.explorer').then(explorer => explorer.evaluate(one => one.scrollTo(0, 0)));
const open =
  selector =>
  ({ page }) =>
    click(page, selector);
const keys =
  (...all) =>
  async ({ page }) => {
    for (const key of all) await page.keyboard.press(key);
  };
/** The line that leaks, in the editor. */
const leak = '.view-line:has-text("leaks with every step") span span';

/** In this order in one window; the sample has ended when the first is drawn. */
const VIEWS = {
  sample: [open('[data-action=open-line]'), top],
  findings: [open('[data-action=why]'), top],
  table: [low],
  details: [open(TRACED), ({ page }) => press(page, '.list .grid', 'ArrowRight'), open('.block-row'), low],
  timeline: [
    open('[data-action=back]'),
    top,
    ({ page }) => press(page, '.timeline-surface', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter'),
  ],
  flame: [({ page }) => press(page, '.timeline-surface', 'Escape'), tab('flame'), low],
  segments: [tab('segments'), low],
  compare: [tab('compare'), low],
  hover: [tab('lines'), ({ page }) => page.locator(leak).first().hover()],
  wide: [keys('Escape', 'Control+j'), open('[data-action=open-wide]'), keys('Control+b'), top],
  'wide-table': [low],
  'wide-flame': [tab('flame'), low],
  'wide-segments': [tab('segments'), low],
  'wide-compare': [tab('compare'), low],
  doctor: [({ command }) => command('GPU Memory: Check')],
};

/** Draws the views named in `wanted`, or all, in each theme; `choose` makes a theme the window's. */
export async function takeViews({ folder, themes, choose, out, wanted }) {
  choose(Object.values(themes)[0]);
  const window = await traceSample(folder, { headless: true, size: { width: 1440, height: 1080 } });
  try {
    const { page } = window;
    await frameWith(page, '[data-phase=ended]', 60_000);
    for (const [name, steps] of Object.entries(VIEWS)) {
      for (const step of steps) await step(window);
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      for (const [kind, theme] of Object.entries(themes)) {
        choose(theme);
        await page.waitForTimeout(1800); // the window reads its settings, and draws
        const file = join(out, `${kind}-${name}.png`);
        await page.screenshot({ path: file });
        console.log(file);
      }
    }
  } finally {
    await window.close();
  }
}
