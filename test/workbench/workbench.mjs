// A real VS Code workbench and extension host where no desktop VS Code can be had: the VS Code server that code-server
// ships, opened in Chromium through playwright-core. Everything stays on 127.0.0.1.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { chromiumPath } from '../project/chromium.mjs';
import { inCache } from '../project/root.mjs';

/** Where the server and its Node.js lie: made once, for every checkout. */
export const bench = resolve(process.env.BENCH ?? inCache('workbench'));
const NODE = join(bench, 'node/bin/node');
const SERVER = join(bench, 'server/out/server-main.js');

/** User settings that keep the window free of what no test needs, and of what draws again and again. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
  'editor.cursorBlinking': 'solid',
  'editor.occurrencesHighlight': 'off',
  'breadcrumbs.enabled': false,
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
  'workbench.localHistory.enabled': false,
  'terminal.integrated.gpuAcceleration': 'off', // there is none: the processor would do it
  'terminal.integrated.suggest.enabled': false,
  'git.enabled': false,
  'remote.autoForwardPorts': false, // scans all processes again and again, in the extension host
};

const PROBE_MS = 20;

/** A free port of 127.0.0.1. */
function freePort() {
  return new Promise(done => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/**
 * Starts a VS Code server with a profile of its own. `trust`: Workspace Trust is on, so folders open restricted.
 * `vsix`: a packaged extension to install; `beside`: folders of others. `graceSeconds`: how long terminals outlive the page, as over a reload.
 */
export async function startServer({
  settings = {},
  trust = false,
  vsix,
  beside = [],
  graceSeconds = 0,
  env = {},
} = {}) {
  const data = mkdtempSync(join(tmpdir(), 'vscode-host-'));
  mkdirSync(join(data, 'data/User'), { recursive: true });
  writeFileSync(join(data, 'data/User/settings.json'), JSON.stringify({ ...QUIET, ...settings }));
  for (const folder of beside) cpSync(folder, join(data, 'extensions', basename(folder)), { recursive: true });
  const port = await freePort();
  const args = [SERVER, '--host', '127.0.0.1', '--port', String(port), '--server-data-dir', data];
  args.push('--without-connection-token', '--accept-server-license-terms');
  args.push('--enable-smoke-test-driver'); // else a built server ignores extensionDevelopmentPath and extensionTestsPath
  args.push('--disable-telemetry', '--disable-experiments');
  args.push('--reconnection-grace-time', String(graceSeconds)); // else extension hosts outlive the page by hours
  if (!trust) args.push('--disable-workspace-trust');
  if (vsix) args.push('--install-extension', resolve(vsix), '--start-server');
  let log = '';
  // XDG_RUNTIME_DIR: the server's sockets stay in its own folder.
  const server = spawn(NODE, args, { env: { ...process.env, XDG_RUNTIME_DIR: data, ...env }, detached: true });
  const gone = new Promise(done => server.once('exit', done));
  const stop = async () => {
    try {
      process.kill(-server.pid, 'SIGKILL'); // the whole group: extension hosts are children
    } catch {
      // it ended already
    }
    await gone;
    rmSync(data, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  await new Promise((ok, fail) => {
    server.once('error', fail);
    server.on('exit', code => fail(new Error(`The VS Code server ended with status ${code}.\n${log}`)));
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', data => {
        log += data;
        if (/Web UI available/.test(log)) ok();
      });
  });
  /** The first match in what the server logs, or null after so many milliseconds. */
  const logged = async (pattern, milliseconds) => {
    for (const end = Date.now() + milliseconds; !pattern.test(log) && Date.now() < end;) await sleep(PROBE_MS);
    return pattern.exec(log);
  };
  return { port, data, stop, log: () => log, logged };
}

/** Chromium loads nothing but the page: no background traffic. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function addressOf(server, { folder, extensions, tests }) {
  const remote = path => `vscode-remote://127.0.0.1:${server.port}${encodeURI(resolve(path))}`;
  const payload = extensions.map(path => ['extensionDevelopmentPath', remote(path)]);
  if (tests) payload.push(['extensionTestsPath', remote(tests)]);
  payload.push(['enableProposedApi', ''], ['skipWelcome', 'true']);
  const place = folder ? `folder=${encodeURIComponent(resolve(folder))}` : 'ew=true';
  return `http://127.0.0.1:${server.port}/?${place}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
}

/**
 * Opens a folder in the workbench. `extensions` and `tests` are paths on this machine. `onLog(type, args)` gets the
 * console of the extension host, `onExit(code)` the end of its tests.
 */
export async function openWorkbench(server, options = {}) {
  const {
    folder,
    extensions = [],
    tests,
    size = { width: 1120, height: 760 },
    headless = true,
    onLog,
    onExit,
  } = options;
  const browser = await chromium.launch({ executablePath: chromiumPath(), headless, args: FLAGS });
  // Animations would be drawn by the processor, all the time.
  const context = await browser.newContext({ viewport: headless ? size : null, reducedMotion: 'reduce' });
  const page = await context.newPage();
  if (onLog) await page.exposeFunction('codeAutomationLog', onLog);
  if (onExit) {
    await page.exposeFunction('codeAutomationExit', code => onExit(code));
    page.on('crash', () => onExit(70));
  }
  await page.goto(addressOf(server, { folder, extensions, tests }));
  await page.waitForSelector('.monaco-workbench .part.activitybar');
  return { page, browser, command: title => runCommand(page, title) };
}

/** Runs a command by its title through the palette, as a user does. */
async function runCommand(page, title) {
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  // An extension that is still being scanned is not in the list, and an open list does not refresh.
  for (let attempt = 0; ; attempt++) {
    await page.keyboard.press('F1');
    const box = page.locator('.quick-input-widget input[type=text]');
    await box.waitFor();
    await box.fill('>' + title);
    try {
      return await row.click({ timeout: 1500 });
    } catch (error) {
      if (attempt === 9) throw error;
      await page.keyboard.press('Escape');
      await box.waitFor({ state: 'hidden' });
    }
  }
}

/** Runs in a page; null: only playwright can read it. Much cheaper than its way, which looks into each element for a shadow. */
function holdsNow(selector) {
  try {
    return document.querySelector(selector) !== null;
  } catch {
    return null;
  }
}

/** In a webview it may stand in the shadow of a control; the window itself, which is big, has none that matters. */
async function holds(page, frame, selector) {
  const found = await frame.evaluate(holdsNow, selector);
  if (found || (found === false && frame === page.mainFrame())) return found;
  return (await frame.locator(selector).count()) > 0;
}

/** The frame (webviews are nested iframes) that holds a selector. */
export async function frameWith(page, selector, milliseconds = 15000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await page.waitForTimeout(100))
    for (const frame of page.frames()) if (await holds(page, frame, selector).catch(() => false)) return frame;
  throw new Error(`No frame holds ${selector}.`);
}
