// Runs test/host inside VS Code: the one $VSCODE_EXECUTABLE names; else a desktop VS Code that @vscode/test-electron
// can download, where there is a display and the network; else the stand-in of test/workbench.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { inRoot, must } from '../project/root.mjs';
import { ensurePrograms } from '../project/systemPackages.mjs';

const standIn = inRoot('test/workbench/code.mjs');
const results = inRoot('build/test-results/host.json');
const driverFolder = inRoot('build/test-results/driver');

/** A workspace of its own, at a path that is not plain ASCII, with the sample jobs. */
export function makeWorkspace(settings, folder = inRoot('build/test/work space é')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/.vscode`, { recursive: true });
  cpSync(inRoot('test/workloads'), folder, { recursive: true });
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
  const packages = ['chromium', 'fonts-dejavu-core', 'fonts-liberation'];
  const problem = process.env.CHROMIUM ? null : await ensurePrograms(['chromium'], packages);
  if (problem) return problem;
  await must('sh', [inRoot('test/workbench/install.sh'), inRoot('.bench')]);
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
async function driveDesktop(port) {
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

export async function runHost() {
  rmSync(results, { force: true });
  const code = await runInWindow(inRoot('build/test/host/index.js'), {
    HOST_RESULTS: results,
    SCREENSHOTS: inRoot('build/screenshots'),
    HOST_GREP: process.env.HOST_GREP ?? '',
  });
  if (typeof code === 'string') return { skipped: [`the extension in VS Code: ${code}`] };
  const counted = existsSync(results)
    ? JSON.parse(readFileSync(results, 'utf8'))
    : { passed: 0, failed: 0, skipped: [] };
  // A host that died, or a window that reports failure, is a failure whatever was counted.
  if (code !== 0 && counted.failed === 0) {
    console.error(String(code));
    counted.failed = 1;
  }
  return counted;
}

/**
 * Runs the module `tests` in the extension host of a VS Code, with a driver of its window. Resolves with its exit status, an
 * Error, or one sentence where there is no VS Code.
 */
export async function runInWindow(tests, env) {
  const { executable, desktop } = await choose();
  const problem = desktop ? null : await prepareStandIn();
  if (problem) return problem;
  rmSync(driverFolder, { recursive: true, force: true });
  for (const folder of [driverFolder, inRoot('build/screenshots')]) mkdirSync(folder, { recursive: true });
  const launchArgs = [makeWorkspace({ 'gpuMemoryTrace.simulateGpu': true })];
  if (desktop) {
    const port = await freePort();
    launchArgs.push(`--remote-debugging-port=${port}`, '--disable-workspace-trust');
    void driveDesktop(port).catch(error => console.error(error.message));
  }
  const { runTests } = await import('@vscode/test-electron');
  return runTests({
    vscodeExecutablePath: executable,
    extensionDevelopmentPath: inRoot(),
    extensionTestsPath: tests,
    extensionTestsEnv: { DRIVER_FOLDER: driverFolder, BENCH_TIMEOUT_S: '1200', ...env },
    launchArgs,
  }).catch(error => error);
}
