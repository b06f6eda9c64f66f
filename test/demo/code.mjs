// The sample job in a VS Code with the extension: the desktop one (`code` on PATH and a display), else the stand-in,
// in a window where there is a display and without one where there is none (then a picture is kept).
import { mkdirSync } from 'node:fs';
import { makeWorkspace, prepareStandIn } from '../host/run.mjs';
import { inRoot, run, which } from '../project/root.mjs';

const hasDisplay = () => Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

/** Resolves with the exit status. */
export async function demoInCode({ simulated }) {
  const folder = makeWorkspace({ 'gpuMemoryTrace.simulateGpu': simulated });
  const script = `${folder}/sample_train.py`;
  const code = which('code');
  if (code && hasDisplay()) {
    console.log('VS Code opens with the sample. Press F1 there and choose “Trace GPU memory”.');
    const flags = ['--new-window', `--extensionDevelopmentPath=${inRoot()}`, '--disable-workspace-trust', folder];
    return (await run(code, [...flags, '--goto', script])).code;
  }
  const problem = await prepareStandIn();
  if (problem) {
    console.error(`A VS Code is missing here: install it, or let the stand-in run: ${problem}`);
    return 1;
  }
  return demoInStandIn(folder);
}

async function demoInStandIn(folder) {
  const { frameWith, openWorkbench, startServer } = await import('../workbench/workbench.mjs');
  const server = await startServer();
  try {
    const { page, browser, command } = await openWorkbench(server, {
      folder,
      extensions: [inRoot()],
      headless: !hasDisplay(),
    });
    await openFile(page, 'sample_train.py');
    await command('Trace GPU memory');
    const frame = await frameWith(page, '[data-row]', 30_000);
    const seen = await frame.locator('[data-row]').count();
    console.log(`The table shows ${seen} lines.`);
    if (hasDisplay()) {
      console.log('Close the window to end.');
      await new Promise(done => browser.once('disconnected', done));
      return 0;
    }
    await page.waitForTimeout(3000); // a few seconds of the run
    mkdirSync(inRoot('build/screenshots'), { recursive: true });
    const picture = inRoot('build/screenshots/demo.png');
    await page.screenshot({ path: picture });
    console.log(`There is no display here: the window was drawn into ${picture}`);
    await browser.close();
    return 0;
  } catch (error) {
    console.error(error.message);
    return 1;
  } finally {
    await server.stop();
  }
}

/** Opens a file of the workspace by its name, as a user does. */
async function openFile(page, name) {
  await page.keyboard.press('Control+P');
  const box = page.locator('.quick-input-widget input[type=text]');
  await box.waitFor();
  await box.fill(name);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
  await page.locator('.editor-instance .view-lines').first().waitFor();
}
