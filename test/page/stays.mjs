// What was clicked stays where it is, and so do the tabs: node test/page/all.mjs stays
import assert from 'node:assert/strict';
import { runChecks } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const browser = await openBrowser();
const files = await buildPage();
const PANEL_PX = 300;
const SIZES = [
  { width: PANEL_PX, height: 694 },
  { width: 1280, height: 800 },
];
const ENDED = {
  phase: 'ended',
  detail: 'It ended with status 0.',
  exitCode: 0,
  offers: ['traceAgain'],
  ending: {
    timeNs: 400e9,
    title: 'As of the end of step 390',
    show: 'Show the last step',
    when: 'at the end of step 390',
    reason: 'the program had freed everything when it ended',
    bytes: 3 * 1024 ** 3,
  },
};
const tab = name => page => page.locator(`[data-tab=${name}]`);
const now = page => page.locator('[data-action=moment-now]');
const peak = page => page.locator('[data-mark=peak]:visible').first();
const plot = page => page.locator('.timeline-surface');
const click = (name, control, options) => ({ name, control, act: page => control(page).click(options) });

const PEAK = click('the peak', peak, { position: { x: 0, y: 30 }, force: true });
const MOMENT = click('a moment on the plot', plot, { position: { x: 120, y: 40 } });
const BACK = click('back to the present', now);
/** Beside the table alone, a panel has room for an open card. */
const FOLDS = /flame|lines/;
const TABS = ['flame', 'segments', 'compare', 'fit', 'lines'].map(name => click(name, tab(name)));
const CRASHED = {
  ...ENDED,
  exitCode: 1,
  crashed: true,
  ran: 'x',
  detail: 'RuntimeError: x (train.py:8)',
  ending: null,
};
const END = { name: 'the end of the run', control: plot, scene: ENDED };
const CRASH = { name: 'a crash', control: page => page.locator('.tab-list'), scene: CRASHED };
/** Of a run with one before it, first too early to be judged. */
const compareRuns = page => page.locator('[data-action=compare-runs]');
const JUDGED = { name: 'a verdict on the run before', control: compareRuns, scene: { before: 3 } };
const END_BESIDE = { name: 'the end beside it', control: compareRuns, scene: { ...ENDED, before: 3 } };

/** Where the tabs are, and what is acted on. */
const places = async (page, control) =>
  JSON.stringify(
    await Promise.all(
      [page.locator('.tab-list'), control(page)].map(async one => Math.round((await one.boundingBox()).y)),
    ),
  );

async function holds(options, actions) {
  for (const size of SIZES) {
    const { page, context, errors } = await openPage(browser, files, { ...size, devices: 1, ...options });
    const show = scene =>
      page.evaluate(message => window.bench.host.postMessage({ type: 'scene', ...message }), {
        ...{ devices: 1, live: false, limits: {} },
        ...options,
        scene,
      });
    const moved = [];
    for (const { name, control, scene, act = () => show(scene) } of actions) {
      await settled(page);
      if (!(await control(page).isVisible())) continue; // this trace has nothing for that tab
      const before = await places(page, control);
      await act(page);
      if (scene?.phase) await page.locator('.explorer[data-phase=ended]').waitFor();
      await settled(page);
      const after = await places(page, control);
      if (after !== before && !(size.width === PANEL_PX && FOLDS.test(name)))
        moved.push(`${name}: tabs and control from ${before} to ${after}`);
    }
    assert.deepEqual([...errors, ...moved], [], `${size.width} x ${size.height}`);
    await context.close();
  }
}

const CHOICES = [PEAK, BACK, MOMENT, PEAK, ...TABS, MOMENT, ...TABS, BACK];
const RUN = [MOMENT, BACK, END, PEAK, ...TABS];

export const result = await runChecks({
  'beside a card': () => holds({ limits: { rows: 50, findings: 1 } }, CHOICES),
  'beside three cards': () => holds({ limits: { rows: 5000, findings: 3 } }, CHOICES),
  'where there is no leak': () => holds({ story: 'clean' }, CHOICES),
  'after the end': () =>
    holds(
      { scene: ENDED, limits: { rows: 50, findings: 1 } },
      CHOICES.filter(one => one !== BACK),
    ),
  'while a leak is found, and at its end': () => holds({ limits: { rows: 50, findings: 1 } }, RUN),
  'while there is no leak, and at its end': () => holds({ story: 'clean' }, RUN),
  'beside the run before, while a leak is found': () =>
    holds({ scene: { before: 4 }, limits: { rows: 50, findings: 1 } }, [JUDGED, END_BESIDE]),
  'beside the run before, while there is no leak': () =>
    holds({ scene: { before: 4 }, story: 'clean' }, [JUDGED, END_BESIDE]),
  'at a crash, while leaks are found': () => holds({ limits: { rows: 5000, findings: 3 } }, [CRASH]),
  'at a crash, while there is no leak': () => holds({ story: 'clean' }, [CRASH]),
});
