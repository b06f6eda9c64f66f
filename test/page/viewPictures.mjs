// Pictures of every view of the page, in each theme, as a side panel of 360 px and as an editor tab of a window of 1280 × 800:
//   node test/page/viewPictures.mjs FOLDER [VIEW …]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage, openBrowser, openPage, THEMES } from './page.mjs';

/** What VS Code leaves of 1280 × 800: the activity bar is 48 px wide; the bars of title, tabs and status are 92 px high together. */
const SIZES = { panel: { width: 360, height: 708 }, tab: { width: 1232, height: 708 } };
const FAILED = 'This machine has no NVIDIA driver (libcuda.so.1). Nothing was started.';
const RAN = 'It ran with /home/me/project/.venv/bin/python and ended with status 1.';
const STARTING = 'Waiting for the first CUDA call of train.py.';
const ON_CPU = 'It ran on the CPU: torch.cuda.is_available() was False, because its PyTorch was built without CUDA.';
const ENDED = { phase: 'ended', exitCode: 0, detail: 'It ended with status 0.' };
const CRASHED = { ...ENDED, exitCode: 1, crashed: true, detail: 'KeyError: 3', ran: RAN, offers: ['traceAgain'] };
const RAN_OUT = { ...CRASHED, detail: '', ran: '', offers: ['traceAgain', 'openReport'] };
const NO_TORCH = {
  ...CRASHED,
  detail: "ModuleNotFoundError: No module named 'torch'",
  offers: ['chooseInterpreter', 'traceAgain'],
};
const ENDING = {
  timeNs: 400e9,
  title: 'As of the end of step 390',
  show: 'Show the last step',
  when: 'at the end of step 390',
  reason: 'the program freed everything when it ended',
  bytes: 3 * 1024 ** 3,
};
const RECENT = [
  { title: 'train.py', words: 'Nov 29, 9:45 AM · 1 leak · peak 8.10 GiB' },
  { title: 'gpt8.gputrace', words: 'forecast_models.py · Nov 29, 9:45 AM · Grew until the end · peak 6.34 GiB' },
  { title: 'snapshot.pickle', words: 'Nov 29, 2025, 9:45 AM · peak 8.10 GiB' },
].map(one => ({ ...one, file: `/x/${one.title}` }));

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
const chart = page => page.locator('.timeline').evaluate(one => one.scrollIntoView({ block: 'end' }));
const grouped = by => ({ steps: [choose('group', by), low] });
const span = keys('.timeline-surface', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter');

/** What is done on the page before its picture; `scene`: fields of SessionView; two GPUs unless set. */
const VIEWS = {
  empty: { scene: { phase: 'empty' } },
  recent: {
    scene: { phase: 'empty', recent: RECENT, closed: 'train.py was closed. Its trace is saved as /x/a.gputrace' },
  },
  untrusted: { scene: { phase: 'empty', trusted: false } },
  starting: { scene: { phase: 'starting', detail: STARTING } },
  failed: { scene: { phase: 'failed', title: 'train.py', detail: FAILED, offers: ['trySample', 'doctor'] } },
  'no-torch': { devices: 0, story: 'clean', scene: { ...NO_TORCH, onCpu: true, simulated: false } },
  stopping: { devices: 1, story: 'clean', scene: { phase: 'running', stopped: true, detail: 'Stopping…' } },
  stopped: { devices: 1, story: 'clean', scene: { ...ENDED, exitCode: null, stopped: true, detail: 'Stopped.' } },
  cpu: { devices: 0, story: 'clean', scene: { ...ENDED, simulated: false, onCpu: true, detail: ON_CPU } },
  clean: { devices: 1, story: 'clean' },
  leak: { devices: 1 },
  filling: { devices: 1, story: 'filling', steps: [click('[data-action=all-findings]')] },
  cards: {},
  'out-of-memory': { devices: 1, story: 'outOfMemory', scene: RAN_OUT },
  'out-of-memory-closed': { devices: 1, story: 'outOfMemory', scene: RAN_OUT, steps: [click('.finding-toggle')] },
  crashed: { devices: 1, story: 'clean', scene: CRASHED },
  ended: { devices: 1, scene: { ...ENDED, ending: ENDING } },
  'ended-chart': { devices: 1, scene: { ...ENDED, ending: ENDING }, steps: [chart] },
  losses: { devices: 1, steps: [click('.notice summary')] },
  ledger: { devices: 1, steps: [page => click('.ledger-toggle')(page).catch(() => undefined)] },
  fixed: { devices: 1, scene: { fixed: ['leak 0', 'leak 1'] } },
  'run-before': { devices: 1, scene: { before: 3 } },
  findings: { devices: 1, steps: [click('[data-action=why]')] },
  holders: {
    devices: 1,
    story: 'shared',
    steps: [click('[data-action=who-holds]'), seen('[data-action=stop-asking]')],
    then: [click('[data-action=stop-asking]')],
  },
  table: { steps: [low, keys('.list .grid', 'Home', 'ArrowDown')] },
  selection: { steps: [low, keys('.list .grid', 'Home', 'Shift+ArrowDown', 'Shift+ArrowDown')] },
  menu: { steps: [low, page => page.locator('[data-row="3"]').click({ button: 'right' })] },
  columns: { steps: [low, click('[data-action=columns]')] },
  filter: { steps: [low, click('[data-control=filter]'), page => page.keyboard.type('model >10XB')] },
  ...Object.fromEntries(
    ['site', 'function', 'file', 'thread', 'device', 'module-path'].map(by => [`by-${by}`, grouped(by)]),
  ),
  tree: {
    steps: [choose('group', 'stacks'), low, keys('[role=treegrid]', 'Home', ...Array(8).fill('ArrowRight'))],
  },
  'module-tree': {
    steps: [choose('group', 'modules'), low, keys('[role=treegrid]', 'Home', ...Array(8).fill('ArrowRight'))],
  },
  timeline: { devices: 1, steps: [span, chart] },
  moment: { devices: 1, steps: [keys('.timeline-surface', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft')] },
  zoomed: { steps: [keys('.timeline-surface', '+', '+', 'ArrowLeft'), chart, page => page.mouse.move(200, 400)] },
  passes: { devices: 1, steps: [keys('.timeline-surface', ...Array(16).fill('+')), chart] },
  peak: {
    steps: [
      click('[data-mark=peak]'),
      seen('.peak-card:not([hidden])'),
      page => page.locator('.peak-card').evaluate(one => one.scrollIntoView({ block: 'end' })),
    ],
  },
  'flame-modules': { steps: [click('[data-tab=flame]'), choose('flame-weight', 'modules'), low] },
  flame: {
    steps: [click('[data-tab=flame]'), low, seen('.flame-rect[aria-label^="forward_1,"]')],
    then: [keys('.flame-scroller', 'Home', 'ArrowDown', 'ArrowDown')],
  },
  'flame-span': {
    devices: 1,
    steps: [span, click('[data-tab=flame]'), low, seen('.flame-rect[aria-label^="forward_1,"]')],
  },
  segments: {
    steps: [click('[data-tab=segments]'), low, seen('.segment-keys button')],
    then: [keys('.segment-scroller', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight')],
  },
  ages: { steps: [click('[data-tab=segments]'), low, choose('segment-colour', 'age')] },
  details: { steps: [click('[data-row="1"]'), click('.block-row[data-index="1"]'), low] },
  compare: { devices: 1, steps: [click('[data-tab=compare]'), low, seen('[data-compared]')] },
  fit: { devices: 1, scene: ENDED, steps: [click('[data-tab=fit]'), seen('.fit-ways tbody tr')] },
};

const [out = 'build/pictures', ...chosen] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const files = await buildPage();
const browser = await openBrowser();

async function take(name, theme, size) {
  const { devices, story, steps = [], then = [], ...view } = VIEWS[name];
  const scene = { canWiden: size === 'panel', ...view.scene };
  const { page, context, errors } = await openPage(browser, files, { theme, scene, devices, story, ...SIZES[size] });
  page.setDefaultTimeout(5000);
  for (const step of [...steps, ...then]) {
    await step(page).catch(error => errors.push(error.message.split('\n')[0]));
    await page.waitForTimeout(300);
  }
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(out, `${name}-${size}-${theme}.png`) });
  errors.push(...(await page.evaluate(() => window.bench.violations)));
  if (errors.length > 0) console.log(`${theme} ${name} ${size}: ${errors.join('\n  ')}`);
  await context.close();
}

for (const name of chosen.length > 0 ? chosen : Object.keys(VIEWS))
  for (const theme of THEMES) for (const size of Object.keys(SIZES)) await take(name, theme, size);
await browser.close();
