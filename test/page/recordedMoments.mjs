// The timeline of a page that can show some moments alone, as one that is a file: node test/page/all.mjs recordedMoments
import assert from 'node:assert/strict';
import { runChecks } from './checks.mjs';
import { buildPage, openBrowser, openPage, settled } from './page.mjs';

const moments = [40e9, 200e9, 400e9];
const scene = { phase: 'ended', recording: false, moments };
const { page, errors, context } = await openPage(await openBrowser(), await buildPage(), { width: 1000, scene });
const surface = page.locator('.timeline-surface');

/** The moment that is shown in the end. */
async function shown() {
  await settled(page);
  return page.evaluate(() => window.bench.saved.moment);
}

async function drag(from, to) {
  const box = await page.locator('.timeline-overlay').boundingBox();
  const y = box.y + box.height * 0.4;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
}

const checks = {
  async 'a click goes to the nearest one'() {
    await drag(0.5, 0.5);
    assert.deepEqual(await shown(), { kind: 'at', timeNs: 200e9 });
  },
  async 'keys go from one to the next'() {
    await surface.press('ArrowRight');
    assert.deepEqual(await shown(), { kind: 'at', timeNs: 400e9 });
    await surface.press('Home');
    assert.deepEqual(await shown(), { kind: 'at', timeNs: 40e9 });
  },
  async 'a drag selects no span, which would be another moment'() {
    await drag(0.2, 0.55);
    assert.deepEqual(await shown(), { kind: 'at', timeNs: 200e9 });
    assert.equal(await page.locator('[data-value=span]:visible').count(), 0);
  },
};

export const result = await runChecks(checks, { page, errors, context });
