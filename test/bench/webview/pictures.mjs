// Pictures of the page in its states, themes and widths: node test/bench/webview/pictures.mjs FOLDER
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPage, openBrowser, openPage } from './page.mjs';

const out = process.argv[2] ?? 'build/pictures';
mkdirSync(out, { recursive: true });
const files = await buildPage();
const browser = await openBrowser();
const failed = {
  phase: 'failed',
  title: 'train.py',
  detail: 'No GPU was found. Choose "Use the simulated GPU" in the settings, or run on a machine with one.',
};
const shots = [
  ['dark-360', { theme: 'dark' }],
  ['light-360', { theme: 'light' }],
  ['contrast-360', { theme: 'contrast' }],
  ['one-card-360', { devices: 1 }],
  ['dark-300', { width: 300, height: 760 }],
  ['dark-1000', { width: 1000 }],
  ['light-1000', { width: 1000, theme: 'light' }],
  ['contrast-1000', { width: 1000, theme: 'contrast' }],
  ['empty', { scene: { phase: 'empty' }, height: 420 }],
  ['untrusted', { scene: { phase: 'empty', trusted: false }, height: 420 }],
  ['starting', { scene: { phase: 'starting', detail: 'Waiting for the first CUDA call of train.py.' }, height: 420 }],
  ['ended', { scene: { phase: 'ended', exitCode: 1, detail: 'train.py ended with exit status 1.' } }],
  ['failed', { scene: failed, height: 420 }],
];
for (const [name, options] of shots) {
  const { page, context, errors } = await openPage(browser, files, options);
  if (/\d/.test(name) || name === 'ended') {
    await page.locator('[data-row="2"]').scrollIntoViewIfNeeded();
    await page.locator('[data-row="2"]').click();
    await page.locator('.explorer').evaluate(element => element.scrollIntoView());
    await page.mouse.move(200, 330);
    await page.waitForTimeout(300);
  }
  await page.screenshot({ path: join(out, `${name}.png`) });
  const violations = await page.evaluate(() => window.bench.violations);
  console.log(name, [...errors, ...violations].join('\n  ') || 'ok');
  await context.close();
}
await browser.close();
