// The sample job in a VS Code with the extension: the desktop one (`code` on PATH and a display), else the stand-in,
// in a window where there is a display and without one where there is none (then a picture is kept).
import { mkdirSync } from 'node:fs';
import { makeWorkspace, prepareStandIn } from '../host/runInCode.mjs';
import { inRoot, run, which } from '../project/root.mjs';
import { simulated } from '../simulator/variables.mjs';

/** Resolves with the exit status. */
export async function demoInCode({ simulate }) {
  const folder = simulate ? makeWorkspace({ 'terminal.integrated.env.linux': simulated }) : inRoot('test/workloads');
  const { hasDisplay, traceSample } = await import('./window.mjs');
  const code = which('code');
  if (code && hasDisplay()) {
    console.log('VS Code opens with the sample. Press F1 there and choose “Trace GPU memory”.');
    const flags = ['--new-window', `--extensionDevelopmentPath=${inRoot()}`, '--disable-workspace-trust', folder];
    return (await run(code, [...flags, '--goto', `${folder}/sample_train.py`])).code;
  }
  const problem = await prepareStandIn();
  if (problem) {
    console.error(`A VS Code is missing here: install it, or let the stand-in run: ${problem}`);
    return 1;
  }
  const { page, browser, frame, close } = await traceSample(folder);
  try {
    console.log(`The table shows ${await frame.locator('[data-row]').count()} lines.`);
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
    return 0;
  } finally {
    await close();
  }
}
