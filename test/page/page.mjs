// Opens the built page in Chromium beside the fake host, under the content security policy of the real view.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { chromiumPath } from '../project/chromium.mjs';

/** What --vscode-* variables are in VS Code's own themes, a value each; null: the theme has none. */
const { kinds, variables } = JSON.parse(readFileSync(new URL('../../webview/themes.json', import.meta.url), 'utf8'));
export const THEMES = Object.keys(kinds);

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', ttf: 'font/ttf' };
const CSP =
  "default-src 'none'; img-src 'self' data:; font-src 'self'; style-src 'self' 'nonce-N'; script-src 'nonce-N'; worker-src 'self'";

/** The page and the fake host in memory: paths of the server that no network reaches, with contents. */
export async function buildPage({ strings } = {}) {
  return new Map([...(await (built ??= buildFiles())), ['/index.html', html(strings)]]);
}

/** Made once for all files of checks. */
let built;

async function buildFiles() {
  const options = {
    bundle: true,
    write: false,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    logLevel: 'error',
  };
  const page = await build({
    ...options,
    entryPoints: [join(root, 'webview/explorer/explorerMain.ts')],
    outdir: '/out',
    minify: true,
  });
  const host = await build({ ...options, entryPoints: [join(root, 'test/page/fakeHost.ts')], outdir: '/out' });
  const files = new Map();
  for (const file of [...page.outputFiles, ...host.outputFiles]) {
    files.set(file.path.replace('/out/explorerMain', '/explorer').replace('/out', ''), file.text);
  }
  const icons = join(root, 'node_modules/@vscode/codicons/dist');
  files.set('/codicon.css', readFileSync(join(icons, 'codicon.css'), 'utf8'));
  files.set('/codicon.ttf', readFileSync(join(icons, 'codicon.ttf')));
  files.set('/rest.js', `{${readFileSync(new URL('rest.mjs', import.meta.url), 'utf8')}}`);
  return files;
}

/** @param strings translations of texts, as the host gives them; with them all messages of the host are kept. */
function html(strings = {}) {
  const attribute = JSON.stringify(strings).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CSP}"><meta property="csp-nonce" content="N">
<style nonce="N">html{background:var(--vscode-sideBar-background)}body{padding:0 20px}
::-webkit-scrollbar{width:10px;height:10px}::-webkit-scrollbar-thumb{background:var(--vscode-scrollbarSlider-background)}</style>
<link rel="stylesheet" href="/codicon.css"><link rel="stylesheet" href="/explorer.css"></head>
<body><div id="app" data-strings="${attribute}"></div>
<script nonce="N" src="/rest.js"></script><script nonce="N" src="/explorer.js"></script></body></html>`;
}

/** What takes so long never comes, however busy the machine is. */
const HANG_MS = 120_000;

let browser;

/** One for all files of checks; `flags` beside those that it needs. */
export const openBrowser = (...flags) =>
  (browser ??= chromium.launch({
    executablePath: chromiumPath(),
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...flags],
  }));

function valuesOf(theme) {
  const column = THEMES.indexOf(theme);
  return Object.entries(variables).flatMap(([name, values]) =>
    values[column] === null ? [] : [[name, values[column]]],
  );
}

/** Waits until nothing more comes of what was done on the page. Not for a page whose program runs. */
export const settled = page => page.evaluate(() => window.bench.settled());

/** Waits until the running program has sent so many changes from now on. */
export async function changed(page, count = 5) {
  const from = await page.evaluate(() => window.bench.changes);
  await page.waitForFunction(least => window.bench.changes >= least, from + count);
}

/**
 * The page in a window of a size, in one of the themes, showing a scene (fields of SessionView); `story`: what the program does;
 * `limits`: how many rows and findings there are, {rows, findings}.
 */
export async function openPage(
  browser,
  files,
  {
    width = 360,
    height = 900,
    theme = 'dark',
    scene = {},
    live = false,
    devices = 2,
    story = 'leaks',
    limits = {},
  } = {},
) {
  const context = await browser.newContext({ viewport: { width, height } });
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  const errors = [];
  page.on('pageerror', error => errors.push(String(error.stack ?? error)));
  page.on('console', message => message.type() === 'error' && errors.push(message.text()));
  await page.route('**/*', route => {
    const { pathname } = new URL(route.request().url());
    const body = files.get(pathname);
    if (body === undefined) return route.fulfill({ status: 404, body: '' });
    return route.fulfill({ body, contentType: TYPES[pathname.split('.').pop()] });
  });
  await page.goto('http://127.0.0.1:9/index.html');
  await page.evaluate(
    ([kind, values, message]) => {
      for (const [name, value] of values) document.documentElement.style.setProperty(name, value);
      document.body.className = kind;
      window.bench.live = message.live;
      window.bench.host.postMessage({ type: 'scene', ...message });
    },
    [kinds[theme], valuesOf(theme), { scene, live, devices, story, limits }],
  );
  await (live ? changed(page) : settled(page));
  return { page, context, errors };
}
