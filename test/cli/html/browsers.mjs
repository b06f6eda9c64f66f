// Opens a page that is one file in a browser without a network, uses it, and prints what is seen as JSON:
//   node test/cli/html/browsers.mjs chromium|firefox FILE '{"tabs": {TITLE: TEXT, …}, "keys": [[KEY, TEXT], …]}' [PICTURE]
// Each tab is opened, and each key pressed on the timeline; then its text has to come.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { ws as WebSocket } from 'playwright-core/lib/utilsBundle';
import { chromiumPath } from '../../project/chromium.mjs';
import { which } from '../../project/root.mjs';

const [, , name, file, expected = '{}', picture] = process.argv;
const address = pathToFileURL(file).href;

/** In the page. What is expected, and does not come, is an error. */
async function look({ tabs = {}, keys = [] }) {
  const all = selector => [...document.querySelectorAll(selector)].filter(one => one.offsetParent !== null);
  const text = selector => all(selector).map(one => one.textContent.replace(/\s+/g, ' ').trim());
  const until = async (check, what) => {
    for (const end = Date.now() + 30_000; !check(); await new Promise(done => setTimeout(done, 30)))
      if (Date.now() > end) throw new Error(`${what} never came; there is ${document.body.innerText}`);
  };
  await until(() => text('.list .grid [role=row]').some(row => /\d/.test(row)), 'a row');
  const seen = { firstMs: performance.now(), title: document.title, findings: text('.finding-toggle') };
  for (const [title, words] of Object.entries(tabs)) {
    const tab = all('[role=tab]').find(one => one.innerText.trim() === title);
    tab.click();
    await until(() => document.querySelector('.lower').innerText.includes(words), `${words} in ${title}`);
  }
  for (const [key, words] of keys) {
    const press = new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    document.querySelector('.timeline-surface').dispatchEvent(press);
    await until(() => text('.list .grid').join().includes(words), `${words} after ${key}`);
  }
  const attacked = window.attacked === true || document.querySelector('img, iframe') !== null;
  const width = [document.documentElement.scrollWidth, window.innerWidth];
  return { ...seen, rows: text('.list .grid [role=row]'), wrong: text('.notice.error'), attacked, width };
}

async function inChromium() {
  const executablePath = chromiumPath();
  if (!executablePath) return { skipped: 'Chromium is not installed.' };
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const context = await browser.newContext({ offline: true, viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', error => errors.push(String(error)));
    page.on('console', message => message.type() === 'error' && errors.push(message.text()));
    page.on('request', request => request.url() !== address && errors.push(request.url().slice(0, 200)));
    await page.goto(address);
    const seen = await page.evaluate(look, JSON.parse(expected));
    if (picture) await page.screenshot({ path: picture });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const controls = await page
      .locator('vscode-dropdown, vscode-button')
      .evaluateAll(all => all.filter(one => one.offsetParent).length);
    const paper = await page.evaluate(() => window.getComputedStyle(document.documentElement).colorScheme);
    return { ...seen, printed: { controls, paper }, errors: errors.filter(text => !text.startsWith('data:')) };
  } finally {
    await browser.close();
  }
}

/** By WebDriver BiDi. Its proxy leads nowhere. */
async function inFirefox() {
  const program = which('firefox-esr') ?? which('firefox');
  if (!program) return { skipped: 'Firefox is not installed (apt-get install firefox-esr).' };
  const profile = mkdtempSync(join(tmpdir(), 'gpu-memtrace-firefox-'));
  const proxy = 'user_pref("network.proxy.type", 1); user_pref("network.proxy.socks", "127.0.0.1");';
  writeFileSync(join(profile, 'user.js'), `${proxy} user_pref("network.proxy.socks_port", 9);`);
  const words = ['--headless', '--remote-debugging-port', '0', '--profile', profile, '--no-remote'];
  const firefox = spawn(program, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const ended = new Promise(done => firefox.once('exit', done));
  try {
    return await byBidi(firefox.stderr);
  } finally {
    firefox.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function byBidi(stderr) {
  let said = '';
  const [, where] = await new Promise((done, fail) => {
    setTimeout(() => fail(new Error(`Firefox gave no address: ${said}`)), 60_000).unref();
    stderr.on('data', chunk => {
      const found = /BiDi listening on (ws:\S+)/.exec((said += chunk));
      if (found) done(found);
    });
  });
  const socket = new WebSocket(`${where}/session`);
  await new Promise((done, fail) => socket.once('open', done).once('error', fail));
  const waiting = new Map();
  const errors = [];
  socket.on('message', data => {
    const { id, result, error, message, method, params } = JSON.parse(data);
    if (method === 'log.entryAdded' && params.level === 'error') errors.push(params.text);
    waiting.get(id)?.(error ? Promise.reject(new Error(`${error}: ${message}`)) : result);
  });
  const send = (method, params) =>
    new Promise(done => {
      const id = waiting.size + 1;
      waiting.set(id, done);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = await send('browsingContext.getTree', {});
  const { context } = contexts[0];
  await send('browsingContext.navigate', { context, url: address, wait: 'complete' });
  const expression = `(${look})(${expected}).then(JSON.stringify)`;
  const { result, exceptionDetails } = await send('script.evaluate', {
    ...{ expression, target: { context }, awaitPromise: true },
  });
  if (exceptionDetails) throw new Error(`${exceptionDetails.text} ${errors}`);
  if (picture) {
    const { data } = await send('browsingContext.captureScreenshot', { context });
    writeFileSync(picture, Buffer.from(data, 'base64'));
  }
  socket.close();
  return { ...JSON.parse(result.value), errors };
}

console.log(JSON.stringify(await { chromium: inChromium, firefox: inFirefox }[name]()));
