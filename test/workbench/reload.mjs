// A traced program and a reload of the window, as a user does it: trace a script, reload, and look what is there.
//   node test/workbench/reload.mjs [--close-terminals]
// Exit status 0: what was traced before is followed again, with what it allocated meanwhile, and can be stopped. With
// --close-terminals VS Code gives no terminal back: the program must be stopped without it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverScript, FIRST } from '../workloads/driverScript.mjs';
import { makeWorkspace } from '../host/runInCode.mjs';
import { inRoot } from '../project/root.mjs';
import { frameWith, openWorkbench, startServer } from './workbench.mjs';
import { simulated } from '../simulator/variables.mjs';

const MB = 1 << 20;
const close = process.argv.includes('--close-terminals');
const settings = {
  'terminal.integrated.env.linux': simulated,
  'gpuMemoryTrace.askArguments': 'never',
  'terminal.integrated.enablePersistentSessions': !close,
};
const folder = makeWorkspace(settings, inRoot('build/test/reload'));
const script = join(folder, 'reloaded.py');
writeFileSync(
  script,
  driverScript(`allocate(ctypes.byref(address), ctypes.c_size_t(${10 * MB}))
while not os.path.exists(__file__ + ".go"): time.sleep(0.01)
allocate(ctypes.byref(address), ctypes.c_size_t(${20 * MB}))
open(__file__ + ".went", "w").close()
time.sleep(600)
`),
);

const server = await startServer({ graceSeconds: 60 });
const { page, browser, command } = await openWorkbench(server, { folder, extensions: [inRoot()] });

async function until(what, probe, milliseconds = 30_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end; await page.waitForTimeout(100)) {
    const value = await probe().catch(() => null);
    if (value) return value;
  }
  throw new Error(`Waited for ${what}.`);
}
const value = async (selector, wait = 2000) =>
  (await frameWith(page, selector, wait)).locator(selector).first().innerText();
const phase = async () =>
  (await frameWith(page, '[data-layer][data-phase]', 2000))
    .locator('[data-layer][data-phase]')
    .getAttribute('data-phase');
const row = line => async () => (await frameWith(page, `[data-row][data-line="${line}"]`, 500)) !== null;

async function trace() {
  await page.keyboard.press('Control+p');
  await page.locator('.quick-input-widget input[type=text]').fill('reloaded.py');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'reloaded.py' }).first().click();
  await until('the editor', async () => (await page.locator('.tab', { hasText: 'reloaded.py' }).count()) > 0);
  await command('GPU Memory: Trace GPU memory');
  await until('the first line', row(FIRST));
}

/** The program goes on as soon as the window is gone. */
async function reload() {
  const reloading = page.reload(); // what Reload Window does in a browser
  writeFileSync(`${script}.go`, '');
  await reloading;
  await page.waitForSelector('.monaco-workbench .part.activitybar');
}

try {
  await trace();
  await command('GPU Memory: Open Leak Explorer in an editor');
  await reload();
  await until('the second allocation', async () => existsSync(`${script}.went`));
  await until('what it allocated meanwhile', row(FIRST + 2));
  if ((await phase()) !== 'running') throw new Error(`It is ${await phase()}.`);
  await page.screenshot({ path: inRoot('build/screenshots/reloaded.png') });
  await (await frameWith(page, '[data-action=stop]')).locator('[data-action=stop]').first().click();
  await until('the end', async () => (await phase()) === 'ended');
  console.log(await value('[data-value=detail]'));
  console.log('ok');
} catch (error) {
  await page.screenshot({ path: inRoot('build/screenshots/reload-failed.png') }).catch(() => {});
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
  await server.stop();
}
