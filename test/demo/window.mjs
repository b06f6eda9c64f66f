// A script in the stand-in's window, traced as a user does it: open the file, choose the action from the palette.
import { inRoot } from '../project/root.mjs';
import { frameWith, openWorkbench, startServer } from '../workbench/workbench.mjs';

export const hasDisplay = () => Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

/** Opens a file of the workspace by its name, which is text. */
export async function openFile(page, name) {
  await chooseFile(page, name);
  await page.locator('.editor-instance .view-lines').first().waitFor();
}

/** Opens a file of the workspace in the editor that it has. */
export async function chooseFile(page, name) {
  await page.keyboard.press('Control+P');
  const box = page.locator('.quick-input-widget input[type=text]');
  await box.waitFor();
  await box.fill(name);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().click();
}

/** A window of the stand-in with the extension, on `folder`: {page, browser, command, close}. */
export async function openWindow(folder, { settings = {}, env = {}, headless = !hasDisplay(), size } = {}) {
  const server = await startServer({ settings, env });
  try {
    const window = await openWorkbench(server, { folder, extensions: [inRoot()], headless, size });
    const close = async () => {
      await window.browser.close().catch(() => {});
      await server.stop();
    };
    return { ...window, close };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Traces the sample in `folder`. Resolves once the table has rows: {page, browser, frame, close}; `frame` is the page
 * of the extension.
 */
export async function traceSample(folder, options = {}) {
  const window = await openWindow(folder, options);
  try {
    await openFile(window.page, 'sample_train.py');
    await window.command('Trace GPU memory');
    const question = window.page.locator('.quick-input-widget', { hasText: 'Arguments' });
    await question.waitFor();
    await question.locator('input[type=text]').press('Enter'); // none
    const frame = await frameWith(window.page, '[data-row]', 30_000);
    return { ...window, frame };
  } catch (error) {
    await window.close();
    throw error;
  }
}
