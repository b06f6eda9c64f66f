// The layout in numbers, from a narrow side panel to a wide editor tab: node test/page/all.mjs layout
// LAYOUT_PICTURES=FOLDER: a picture of each cell that fails, and layout.txt with all that is wrong.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LONG } from '../long.mjs';
import { log } from '../project/root.mjs';
import { runChecks } from './checks.mjs';
import { PLANTED, PLANTED_HTML, PLANTED_NUMBERS } from './layoutPlanted.mjs';
import { RULES, unmeasured } from './layoutRules.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

/** Width and height in pixels, and the page zoom of VS Code; the short run has those that are marked. */
const SIZES = [
  { size: [280, 594], short: true },
  { size: [300, 694], short: true },
  { size: [300, 694], zoom: 1.5 },
  { size: [360, 694] },
  { size: [460, 700] },
  { size: [620, 700], short: true },
  { size: [931, 956] },
  { size: [1280, 800], short: true },
  { size: [1280, 800], zoom: 1.5, short: true },
  { size: [1920, 1080] },
].filter(({ short }) => LONG || short);
const CONTENTS = LONG
  ? [1, 5, 50, 5000].flatMap(rows => [0, 1, 3].map(findings => ({ rows, findings })))
  : [
      { rows: 5, findings: 1 },
      { rows: 50, findings: 0 },
      { rows: 5000, findings: 3 },
    ];
/** After the end, the moment that is shown has half of the lines. With all its bars, a page of 200 × 463 px scrolls. */
CONTENTS.push({ rows: 25, findings: 1, ended: true });
/** The program has ended; it is one of two traces. */
const ENDED = {
  phase: 'ended',
  detail: 'It ended with status 0.',
  exitCode: 0,
  offers: ['traceAgain'],
  sessions: [1, 2].map(id => ({ id, title: 'train.py', status: 'ended · 1 leak' })),
  ending: {
    timeNs: 400e9,
    title: 'As of the end of step 390',
    show: 'Show the last step',
    when: 'at the end of step 390',
    reason: 'the program had freed everything when it ended',
    bytes: 3 * 1024 ** 3,
  },
};
const LOW_PX = 500;
/** Sentences of one rule that are printed. */
const FEW = 12;

const pictures = process.env.LAYOUT_PICTURES;
const probe = readFileSync(new URL('layoutProbe.mjs', import.meta.url), 'utf8');
const browser = await openBrowser();
const files = await buildPage();
/** Sentences by rule, and the cells that have one. */
const wrong = new Map(Object.keys(RULES).map(rule => [rule, []]));
const failedCells = new Map(Object.keys(RULES).map(rule => [rule, 0]));
const misread = [];
let cells = 0;

/** Gives the page a size; at a zoom a pixel of the page has more than one of the screen. */
async function resize({ page, cdp }, { size: [width, height], zoom = 1 }) {
  const inside = { width: Math.round(width / zoom), height: Math.round(height / zoom) };
  await cdp.send('Emulation.setDeviceMetricsOverride', { ...inside, deviceScaleFactor: zoom, mobile: false });
  await page.waitForFunction(one => window.innerWidth === one.width && window.innerHeight === one.height, inside);
  await settled(page);
  return inside;
}

const nameOf = ({ size, zoom = 1 }, { rows, findings, ended = false }, open) =>
  [
    `${size.join('x')}${zoom === 1 ? '' : ` at ${100 * zoom} %`}`,
    `${rows} row${rows === 1 ? '' : 's'}`,
    `${findings} finding${findings === 1 ? '' : 's'}`,
    `details ${open ? 'open' : 'closed'}`,
    ...(ended ? ['ended'] : []),
  ].join(', ');

/** Whatever is shown. */
const EVERYWHERE = [
  'a figure is never cut: without its unit it is another one',
  'dots take no line number and no unit from what they leave',
  'no text runs past an edge',
  'a word of a tab or of a selector is never cut',
  'no text lies over another one',
  'title, figures, fix, link and holder of the card that is open are in sight',
];

async function measureCell(opened, size, contents, open, tab = '') {
  const { page, cdp } = opened;
  const inside = await resize(opened, size);
  if (await page.evaluate(() => window.layout.toBegin())) await settled(page);
  const measured = await page.evaluate(() => window.layout.measure());
  const cell = { ...inside, ...contents, open, tab };
  const name = `${nameOf(size, contents, open)}${tab && `, ${tab}`}`;
  cells++;
  if (!tab) misread.push(...unmeasured(cell, measured).map(what => `${name}: ${what}`));
  let fails = false;
  for (const [rule, find] of Object.entries(RULES)) {
    if (tab && !EVERYWHERE.includes(rule)) continue;
    const found = find(cell, measured);
    if (found.length === 0) continue;
    fails = true;
    failedCells.set(rule, failedCells.get(rule) + 1);
    wrong.get(rule).push(...[...new Set(found)].map(what => `${name}: ${what}`));
  }
  if (!pictures || !fails) return;
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'png' });
  writeFileSync(join(pictures, `${name.replaceAll(', ', '-').replaceAll(' ', '_')}.png`), data, 'base64');
}

/** The other tabs; at last two moments between which nothing changed. */
const TABS = ['flame', 'segments', 'compare', 'nothing changed'];

async function measureTabs(opened, contents, tabs) {
  const { page } = opened;
  for (const tab of tabs) {
    const same = { trace: 0, timeNs: null };
    if (tab !== 'nothing changed') await page.locator(`[data-tab=${tab}]`).click();
    else await page.evaluate(one => window.postMessage({ type: 'compare', a: one }), same);
    for (const size of SIZES) await measureCell(opened, size, contents, false, tab);
  }
  await page.locator('[data-tab=lines]').click();
}

/** All sizes of one page, without and with details. */
async function measurePage(contents) {
  const story = contents.findings === 0 ? 'clean' : 'leaks';
  const { ended = false, rows } = contents;
  const [scene, limits] = ended ? [ENDED, { ...contents, rows: 2 * rows }] : [{}, contents];
  const { page, context, errors } = await openPage(browser, files, { devices: 1, story, scene, limits });
  const opened = { page, cdp: await context.newCDPSession(page) };
  await page.evaluate(probe);
  const sizes = SIZES.filter(({ size: [, height], zoom = 1 }) => !ended || height / zoom > LOW_PX);
  for (const size of sizes) await measureCell(opened, size, contents, false);
  if (contents === CONTENTS[0]) await measureTabs(opened, contents, TABS);
  if (ended) await measureTabs(opened, contents, ['fit']);
  await page.locator('[role=row][data-row="0"]').first().dispatchEvent('click');
  await page.locator('.list .grid').press('ArrowRight');
  await settled(page);
  for (const size of sizes) await measureCell(opened, size, contents, true);
  misread.push(...errors, ...(await page.evaluate(() => window.bench.violations)));
  await context.close();
}

/** Long names and figures in a side panel: the cards with all that they open, the banner, the tooltip, the tabs. */
async function measureLong() {
  const limits = { rows: 25, findings: 3, long: true };
  const { page, context, errors } = await openPage(browser, files, {
    ...{ devices: 1, story: 'shared' },
    scene: { ...ENDED, before: 3 },
    limits,
  });
  const opened = { page, cdp: await context.newCDPSession(page) };
  await page.evaluate(probe);
  const measureEach = async what => {
    for (const size of SIZES.filter(({ size: [width] }) => width <= 300)) {
      // The cards scroll: each of their texts must be in sight once.
      await measureCell(opened, { ...size, size: [size.size[0], 2400] }, limits, false, what);
    }
  };
  await measureEach('long names');
  const [chevron, title] = ['.codicon', '.primary'].map(part =>
    page.locator(`[data-open=true] .finding-toggle ${part}`),
  );
  const apart = (await title.first().boundingBox()).y - (await chevron.first().boundingBox()).y;
  if (Math.abs(apart) > 6) misread.push(`the chevron of a card stands ${apart} px above its title`);
  for (const action of ['who-holds', 'why']) await page.locator(`[data-action=${action}]:visible`).first().click();
  await settled(page);
  await measureEach('long names, reasons');
  await page.locator('.timeline-surface').hover();
  await settled(page);
  await measureEach('long names, tooltip');
  for (const tab of TABS) {
    if (tab === 'nothing changed') continue;
    await page.locator(`[data-tab=${tab}]`).click();
    await measureEach(`long names, ${tab}`);
  }
  await page.locator('[data-tab=lines]').click();
  await page.locator('[data-mark=peak]:visible').click();
  await settled(page);
  await measureEach('long names, peak');
  await page.locator('[role=row][data-row="0"]').first().dispatchEvent('click');
  await page.locator('.list .grid').press('ArrowRight');
  await settled(page);
  await measureEach('long names, details');
  misread.push(...errors);
  await context.close();
}

function summary() {
  const lines = [...failedCells].map(([rule, count]) => `${String(count).padStart(6)}  ${rule}`);
  return [`layout.mjs: ${cells} cells; cells that fail, by rule`, ...lines].join('\n');
}

if (pictures) mkdirSync(pictures, { recursive: true });
for (const contents of CONTENTS) await measurePage(contents);
await measureLong();
log(summary());
if (pictures) {
  const all = [...wrong].flatMap(([rule, sentences]) => [`${rule}:`, ...sentences.map(one => `  ${one}`)]);
  writeFileSync(join(pictures, 'layout.txt'), [summary(), ...all, ''].join('\n'));
}

function holds(sentences) {
  const left = sentences.length - FEW;
  const shown = [...sentences.slice(0, FEW), ...(left > 0 ? [`and ${left} more`] : [])];
  assert.ok(sentences.length === 0, shown.join('\n'));
}

async function planted() {
  const { width, height } = PLANTED;
  const page = await browser.newPage({ viewport: { width, height } });
  await page.setContent(PLANTED_HTML);
  await page.evaluate(probe);
  const measured = await page.evaluate(() => window.layout.measure());
  await page.close();
  assert.deepEqual(Object.fromEntries(Object.keys(PLANTED_NUMBERS).map(key => [key, measured[key]])), PLANTED_NUMBERS);
  for (const [rule, find] of Object.entries(RULES)) assert.ok(find(PLANTED, measured).length > 0, rule);
}

export const result = await runChecks({
  'the probe finds one fault for each rule where they are planted': planted,
  'each cell shows what the host has': () => holds(misread),
  ...Object.fromEntries([...wrong].map(([rule, sentences]) => [rule, () => holds(sentences)])),
});
