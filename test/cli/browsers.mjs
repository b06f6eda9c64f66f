// Opens a page that is one file in a browser without a network, uses it, and prints what is seen as JSON:
//   node test/cli/browsers.mjs chromium|firefox FILE [PICTURE]
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { ws as WebSocket } from 'playwright-core/lib/utilsBundle';
import { chromiumPath } from '../project/chromium.mjs';
import { which } from '../project/root.mjs';

const [, , name, file, picture] = process.argv;
const address = pathToFileURL(file).href;

/** In the page: what it shows after each of its tabs was opened, and a moment was chosen by key. */
async function look() {
  const until = async (check, what) => {
    for (const end = Date.now() + 30_000; ; await new Promise(done => setTimeout(done, 30))) {
      const found = check();
      if (found) return found;
      if (Date.now() > end) throw new Error(`never came: ${what}`);
    }
  };
  const all = selector => [...document.querySelectorAll(selector)].filter(one => one.offsetParent !== null);
  const text = selector => all(selector).map(one => one.textContent.replace(/\s+/g, ' ').trim());
  await until(() => all('.list .grid [role=row]').length > 1, 'rows');
  const firstMs = performance.now();
  const seen = { firstMs, title: document.title, rows: [], findings: text('.finding-toggle'), tabs: {} };
  await until(() => (seen.rows = text('.list .grid [role=row]')).some(row => /\d/.test(row)), 'figures');
  for (const tab of all('[role=tab]')) {
    tab.click();
    await until(() => tab.getAttribute('aria-selected') === 'true', tab.textContent);
    await new Promise(done => setTimeout(done, 300));
    seen.tabs[tab.textContent] = document.querySelector('.lower').innerText;
  }
  all('[role=tab]')[0].click();
  const surface = document.querySelector('.timeline-surface');
  for (const key of ['Home', 'ArrowRight', 'ArrowLeft', 'End']) {
    const before = document.querySelector('.timeline').innerText;
    surface.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    await new Promise(done => setTimeout(done, 400));
    seen[key] = [before !== document.querySelector('.timeline').innerText, text('.list .grid [role=row]')];
  }
  seen.width = [document.documentElement.scrollWidth, innerWidth];
  seen.wrong = text('.notice.error');
  seen.attacked = window.attacked === true || document.querySelector('img, iframe') !== null;
  return seen;
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
    const seen = await page.evaluate(look);
    if (picture) await page.screenshot({ path: picture });
    return { ...seen, errors: errors.filter(text => !text.startsWith('data:')) };
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
  const firefox = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } });
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
  const expression = `(${look})().then(JSON.stringify)`;
  const { result, exceptionDetails } = await send('script.evaluate', {
    ...{ expression, target: { context }, awaitPromise: true },
  });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  if (picture) {
    const { data } = await send('browsingContext.captureScreenshot', { context });
    writeFileSync(picture, Buffer.from(data, 'base64'));
  }
  socket.close();
  return { ...JSON.parse(result.value), errors };
}

console.log(JSON.stringify(await { chromium: inChromium, firefox: inFirefox }[name]()));
