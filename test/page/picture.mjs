// The pictures of the views by mouse and keyboard against the fake host: node test/page/picture.mjs [FOLDER]
// In FOLDER the pictures are kept, those that are SVG as Chromium draws them too.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, finish, runChecks } from './checks.mjs';
import { buildPage, openBrowser, openPage } from './page.mjs';

const folder = process.argv[2];
if (folder) mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
const files = await buildPage();
const BACKGROUND = { dark: [31, 31, 31], light: [255, 255, 255], contrast: [0, 0, 0], contrastLight: [255, 255, 255] };
const BUTTON = { timeline: '.timeline', 'flame-graph': '.flame', segments: '.segments' };

const button = (page, name) => page.locator(`${BUTTON[name]} [data-action=save-picture]`);
/** Runs `press` and gives the picture that the page then sends. */
async function sent(page, press) {
  const all = () =>
    page.evaluate(() => window.bench.calls.filter(({ method }) => method === 'savePicture').map(call => call.params));
  const before = (await all()).length;
  await press();
  return eventually(async () => {
    const pictures = await all();
    assert.ok(pictures.length > before, 'the page sends a picture');
    return pictures.at(-1);
  });
}

/** The PNG as a browser decodes it: its size, its first pixel, how many colours it has. */
const decoded = (page, data) =>
  page.evaluate(async base64 => {
    const image = new window.Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    const [first] = pixels;
    const paper = [first & 255, (first >> 8) & 255, (first >> 16) & 255, first >>> 24];
    return { width: image.width, height: image.height, paper, colours: new Set(pixels).size };
  }, data);

async function checkPng(page, theme, name, picture) {
  assert.deepEqual([picture.name, picture.format], [name, 'png']);
  if (folder) writeFileSync(join(folder, `${name}-${theme}.png`), Buffer.from(picture.data, 'base64'));
  const { width, height, paper, colours } = await decoded(page, picture.data);
  const selector = name === 'timeline' ? '.timeline-surface canvas' : '.segment-frame canvas';
  const shown = await page.locator(selector).evaluate(({ width: w, height: h }) => ({ w, h }));
  assert.ok(width >= shown.w && height > shown.h, `${width}x${height} of ${shown.w}x${shown.h}`);
  assert.deepEqual(paper, [...BACKGROUND[theme], 255], "it lies on the theme's background");
  assert.ok(colours > 8, `${colours} colours`);
}

async function checkSvg(page, theme, picture) {
  assert.deepEqual([picture.name, picture.format], ['flame-graph', 'svg']);
  const facts = await page.evaluate(text => {
    const root = new window.DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    const fills = [...root.querySelectorAll('[fill]')].map(one => one.getAttribute('fill'));
    return { tag: root.tagName, boxes: root.querySelectorAll('g > rect').length, fills, words: root.textContent };
  }, picture.data);
  assert.equal(facts.tag, 'svg');
  assert.equal(facts.boxes > 10, true, `${facts.boxes} rectangles`);
  assert.match(facts.words, /Flame graph: Alive/);
  assert.match(facts.words, /forward_1/);
  for (const fill of facts.fills) assert.match(fill, /^#[0-9a-f]{6}$/, 'colours are resolved');
  if (!folder) return;
  writeFileSync(join(folder, `flame-${theme}.svg`), picture.data);
  const drawing = await browser.newPage({ viewport: { width: 1000, height: 600 } });
  await drawing.setContent(`<body style="margin:0">${picture.data}`);
  await drawing.screenshot({ path: join(folder, `flame-${theme}.png`) });
  await drawing.close();
}

/** The checks of one theme, on a page of its own. */
async function themeChecks(theme) {
  const { page, errors } = await openPage(browser, files, { devices: 1, width: 1000, height: 1150, theme });
  const byKey = name => async () => {
    await button(page, name).focus();
    await page.keyboard.press('Enter');
  };
  return {
    async [`${theme}: the timeline by mouse and by key`]() {
      await checkPng(page, theme, 'timeline', await sent(page, () => button(page, 'timeline').click()));
      await checkPng(page, theme, 'timeline', await sent(page, byKey('timeline')));
    },
    async [`${theme}: the flame graph by mouse and by key`]() {
      await page.locator('[data-tab=flame]').click();
      await page.locator('.flame-rect[aria-label^="forward_1,"]').first().waitFor();
      await checkSvg(page, theme, await sent(page, () => button(page, 'flame-graph').click()));
      await checkSvg(page, theme, await sent(page, byKey('flame-graph')));
    },
    async [`${theme}: the segments by mouse and by key`]() {
      await page.locator('[data-tab=segments]').click();
      await page.locator('.segment-keys button').first().waitFor();
      await eventually(async () =>
        checkPng(page, theme, 'segments', await sent(page, () => button(page, 'segments').click())),
      );
      await checkPng(page, theme, 'segments', await sent(page, byKey('segments')));
    },
    async [`${theme}: the buttons have a name, and nothing else went wrong`]() {
      for (const name of Object.keys(BUTTON))
        assert.equal(await button(page, name).getAttribute('aria-label'), 'Save as a picture');
      assert.deepEqual([...errors, ...(await page.evaluate(() => window.bench.violations))], []);
    },
  };
}

const checks = Object.assign({}, ...(await Promise.all(Object.keys(BACKGROUND).map(themeChecks))));
await finish(browser, await runChecks(checks));
