// Runs test/host inside VS Code: the one $VSCODE_EXECUTABLE names; else a desktop VS Code that @vscode/test-electron
// can download, where there is a display and the network; else the stand-in of test/workbench, in the long run in two windows at once.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { LONG } from '../long.mjs';
import { inRoot, must, run, log } from '../project/root.mjs';
import { ensureChromium } from '../project/chromium.mjs';
import { bench } from '../workbench/workbench.mjs';
import { simulated } from '../simulator/variables.mjs';

const standIn = inRoot('test/workbench/code.mjs');
/** The files that have a window of their own in the long run. An open window keeps half a core busy: the others fill one. */
const APART = ['access', 'cardAndProblems', 'saved'];
const OWN = inRoot('build/test/host');
const results = window => inRoot('build/test-results', `host${window}.json`);
const drivers = window => inRoot('build/test-results', `driver${window}`);

/** A workspace of its own, at a path that is not plain ASCII, with the sample jobs. */
export function makeWorkspace(settings, folder = inRoot('build/test/work space é')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/.vscode`, { recursive: true });
  const job = source => !/\.m?ts$|\.mjs$/.test(source);
  cpSync(inRoot('test/workloads'), folder, { recursive: true, filter: job });
  writeFileSync(`${folder}/.vscode/settings.json`, JSON.stringify(settings, null, 2));
  return folder;
}

async function desktopIsReachable() {
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return false;
  try {
    const signal = AbortSignal.timeout(3000);
    return (await fetch('https://update.code.visualstudio.com/api/releases/stable', { signal })).ok;
  } catch {
    return false;
  }
}

/** Makes the stand-in ready; one sentence when it cannot be. */
export async function prepareStandIn() {
  const problem = await ensureChromium();
  if (problem) return problem;
  await must('sh', [inRoot('test/workbench/install.sh'), bench]);
  return null;
}

const freePort = () =>
  new Promise(done => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

/** Lets the driver reach the window of a desktop VS Code through its debugging port. */
async function driveDesktop(port, driverFolder) {
  const { chromium } = await import('playwright-core');
  const { serveRequests } = await import('../workbench/driver.mjs');
  for (let attempt = 0; attempt < 100; attempt++) {
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`).catch(() => null);
    const page = browser?.contexts()[0]?.pages()[0];
    if (page) return serveRequests(page, driverFolder).finally(() => browser.close());
    await new Promise(done => setTimeout(done, 200));
  }
  throw new Error('The window of VS Code could not be reached.');
}

/** The VS Code to use: {executable, desktop}. */
async function choose() {
  const named = process.env.VSCODE_EXECUTABLE;
  if (named) return { executable: named, desktop: !named.endsWith('code.mjs') };
  if (await desktopIsReachable()) {
    const { downloadAndUnzipVSCode } = await import('@vscode/test-electron');
    return { executable: await downloadAndUnzipVSCode(), desktop: true };
  }
  return { executable: standIn, desktop: false };
}

/** The names of the test files, without their ending. */
const testFiles = () =>
  readdirSync(OWN)
    .filter(name => name.endsWith('.test.js'))
    .map(name => name.replace('.test.js', ''));

/**
 * The tests of `files` in a window of their own, which is number `window`; `words` are parts of the tests' names. `folder`: where the
 * bundled files lie; `env`: more variables of the window; `beside`: folders of more extensions. What they came to.
 */
export async function runFiles(files, window, words, { folder = OWN, env = {}, beside = [] } = {}) {
  rmSync(results(window), { force: true });
  const variables = {
    HOST_RESULTS: results(window),
    HOST_FOLDER: folder,
    HOST_FILES: files.join(' '),
    HOST_WORDS: JSON.stringify(words),
    SCREENSHOTS: inRoot('build/screenshots'),
  };
  const code = await runInWindow(`${OWN}/index.js`, { ...env, ...variables }, window, beside);
  if (typeof code === 'string') return { skipped: [`the extension in VS Code: ${code}`] };
  const counted = existsSync(results(window))
    ? JSON.parse(readFileSync(results(window), 'utf8'))
    : { passed: 0, failed: 0, skipped: [], notes: [] };
  // A host that died, or a window that reports failure, is a failure whatever was counted.
  if (code !== 0 && counted.failed === 0) {
    counted.failed = 1;
    counted.notes.push(`failed: the window of ${files.join(' ')} ended with status ${code}`);
  }
  return counted;
}

/**
 * `paths` begin the names of files, `words` are parts of the tests' names; what stands before those in their suites runs too, for it
 * made what they need. {passed, failed, skipped, notes}
 */
export async function runHost({ paths = [], words = [] } = {}) {
  const files = testFiles().filter(name => paths.length === 0 || paths.some(path => name.startsWith(path)));
  if (files.length === 0) throw new Error(`No file of test/host has this name: ${paths.join(' ')}`);
  const { desktop } = await choose();
  const isApart = name => APART.includes(name);
  const groups = [files.filter(isApart), files.filter(name => !isApart(name))].filter(group => group.length > 0);
  const windows = LONG && !desktop && words.length === 0 ? groups : [files];
  const problem = desktop ? null : await prepareStandIn();
  if (problem) return { skipped: [`the extension in VS Code: ${problem}`] };
  return summed(await Promise.all(windows.map((group, window) => runFiles(group, window, words))));
}

/** Results of several runs as one. */
export function summed(all) {
  const sum = { passed: 0, failed: 0, skipped: [], notes: [] };
  for (const { passed = 0, failed = 0, skipped = [], notes = [] } of all) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped.push(...skipped);
    sum.notes.push(...notes);
  }
  return sum;
}

/**
 * Runs the module `tests` in the extension host of a VS Code, with a driver of its window; `window` numbers those that are open at
 * once. Resolves with its exit status, or one sentence where there is no VS Code.
 */
export async function runInWindow(tests, env, window = 0, beside = []) {
  const { executable, desktop } = await choose();
  const problem = desktop ? null : await prepareStandIn();
  if (problem) return problem;
  const driverFolder = drivers(window);
  rmSync(driverFolder, { recursive: true, force: true });
  for (const folder of [driverFolder, inRoot('build/screenshots')]) mkdirSync(folder, { recursive: true });
  const place = inRoot(`build/test/work space é${window || ''}`);
  const launchArgs = [makeWorkspace({ 'terminal.integrated.env.linux': simulated }, place)];
  if (desktop) {
    const port = await freePort();
    launchArgs.push(`--remote-debugging-port=${port}`);
    void driveDesktop(port, driverFolder).catch(error => log(error.message));
  }
  const flags = [
    ...['no-sandbox', 'disable-gpu-sandbox', 'disable-updates', 'skip-welcome', 'skip-release-notes'],
    'disable-workspace-trust',
    ...[inRoot(), ...beside].map(path => `extensionDevelopmentPath=${path}`),
    `extensionTestsPath=${tests}`,
    `extensions-dir=${inRoot('.vscode-test/extensions')}`,
    `user-data-dir=${inRoot('.vscode-test/user-data')}`,
  ];
  const { code, output } = await run(executable, [...launchArgs, ...flags.map(flag => `--${flag}`)], {
    env: { DRIVER_FOLDER: driverFolder, BENCH_TIMEOUT_S: '1200', ...env },
    quiet: true,
  });
  log(output.trimEnd()); // in one piece: another window has its own
  return code;
}
