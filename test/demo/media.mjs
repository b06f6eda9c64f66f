// The pictures of README.md, made by the real program: a training script is run, its leak found and mended, and it is run again; and
// single views. The script runs on PyTorch's CPU build, whose tensors are reported as a simulated GPU's (test/torch).
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { inRoot } from '../project/root.mjs';
import { preparePython } from '../runner/pythonPackages.mjs';
import { findTorch, standInVariables } from '../torch/standIn.mjs';
import { frameWith } from '../workbench/workbench.mjs';
import { Movie } from './movie.mjs';
import { chooseFile, openFile, openWindow } from './window.mjs';
import { simulated } from '../simulator/variables.mjs';

const SIZE = { width: 1120, height: 700 };
/** Of the pictures of a whole window. */
const WHOLE = { width: 1440, height: 810 };
const THEMES = { dark: 'Dark 2026', light: 'Light 2026' };
const SCRIPT = 'finetune.py';
/** A run on an H200, with batch 8. */
const RECORDED = 'gpt8.gputrace';
const SETTINGS = {
  'terminal.integrated.env.linux': simulated,
  'gpuMemoryTrace.askArguments': 'never',
  'editor.minimap.enabled': false,
  'files.exclude': { '.vscode': true, '.venv': true },
};
/** So that the editor with Leak Explorer has the window. */
const CLEARED = ['View: Close Editors in Other Groups', 'View: Close Primary Side Bar', 'View: Hide Panel'];
const RUN_MS = 180_000;
const SHOT_MS = 700;

const seen = (page, selector, milliseconds) =>
  frameWith(page, selector, milliseconds).then(frame => frame.locator(selector).first());
const click = async (page, selector) => (await seen(page, selector)).click();
const rest = page => page.waitForTimeout(1800); // the window draws what it knows already

/** A folder with the script and what stands for its virtual environment: {folder, settings}; `settings` writes more of them. */
function makeFolder(python) {
  const folder = join(mkdtempSync(join(tmpdir(), 'media-')), 'training');
  const own = join(folder, '.venv/bin/python');
  for (const place of ['.vscode', '.venv/bin']) mkdirSync(join(folder, place), { recursive: true });
  writeFileSync(own, `#!/bin/sh\nexec ${python} "$@"\n`);
  chmodSync(own, 0o755);
  copyFileSync(inRoot('test/demo', SCRIPT), join(folder, SCRIPT));
  writeFileSync(join(folder, RECORDED), gunzipSync(readFileSync(inRoot('test/golden/fit', `${RECORDED}.gz`))));
  const all = { ...SETTINGS, 'gpuMemoryTrace.pythonPath': own };
  const settings = more => writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ ...all, ...more }));
  settings({});
  return { folder, settings };
}

/** A window of its own for `show`, with the script open. */
async function inWindow(torch, show, theme = THEMES.dark, size = SIZE) {
  const { folder, settings } = makeFolder(torch.python);
  const window = await openWindow(folder, { env: await standInVariables(torch), headless: true, size });
  try {
    await openFile(window.page, SCRIPT);
    await rest(window.page);
    settings({ 'workbench.colorTheme': theme }); // only a change of the file is taken
    await window.page.keyboard.press('Control+End');
    await rest(window.page);
    await show(window);
  } finally {
    await window.close();
    rmSync(dirname(folder), { recursive: true, force: true });
  }
}

/** Traces the open file to its end; `each` is done again and again meanwhile. */
async function trace({ page, command }, each) {
  await command('Trace GPU memory');
  await seen(page, '[data-phase=running]', 30_000);
  for (const end = Date.now() + RUN_MS; Date.now() < end;) {
    await each?.();
    if (await seen(page, '[data-phase=ended]', SHOT_MS).catch(() => null)) return rest(page);
  }
  throw new Error(`${SCRIPT} did not end in ${RUN_MS / 1000} s.`);
}

/** From the palette to the leak, its line, the fix, and a run without it. */
async function tell(window, movie) {
  const { page } = window;
  await movie.shot(0.7);
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input[type=text]').fill('>Trace GPU memory');
  await rest(page);
  await movie.shot(1);
  await page.keyboard.press('Escape');
  await movie.shots(1.8, 6, each => trace(window, each));
  await movie.shot(2);
  await click(page, '[data-action=open-holder]');
  await rest(page);
  await movie.shot(1.2);
  await fix(page);
  await movie.shot(1.2);
  await movie.shots(0.6, 2, each => trace(window, each));
  await movie.shot(1.6);
}

/** Presses the button of the card that writes the fix. */
async function fix(page) {
  const button = await seen(page, '[data-action=apply-fix]');
  const statement = await button.getAttribute('title');
  await button.click();
  await page.locator('.view-line', { hasText: statement }).waitFor();
  await rest(page);
}

/** Leak Explorer in the editor: the widest of the frames that show it. */
async function widest(page) {
  const frames = [];
  for (const frame of page.frames()) {
    const width = await frame.evaluate('document.querySelector(".explorer") ? innerWidth : 0').catch(() => 0);
    frames.push({ frame, width });
  }
  return frames.sort((a, b) => b.width - a.width)[0].frame;
}

/** The findings, the timeline and the peak, in an editor tab. */
async function takeViews(window, out) {
  const { page } = window;
  await trace(window);
  await click(page, '[data-action=open-wide]');
  await rest(page); // it takes the focus when it is there
  for (const title of CLEARED) await window.command(title);
  await rest(page);
  const frame = await widest(page);
  const keep = (selector, name) =>
    frame
      .locator(selector)
      .first()
      .screenshot({ path: join(out, name) });
  await keep('.timeline', 'timeline.png');
  await frame.locator('[data-mark=peak]').first().click();
  await frame.locator('.peak-card:not([hidden])').waitFor();
  await frame.locator('[data-action=peak-parts]').click();
  await page.mouse.move(0, 0); // the tooltip of the timeline lies over what is below it
  await rest(page);
  await keep('.peak-card', 'peak.png');
  await frame.locator('[data-action=moment-now]').click();
  await rest(page);
  await keep('.findings', 'findings.png');
}

/** A whole window: the side panel, the script, and Leak Explorer in a tab. */
async function takeWhole(window, file) {
  const { page } = window;
  await trace(window);
  await window.command('View: Hide Panel');
  await click(page, '[data-action=open-wide]');
  await rest(page);
  await page.mouse.move(0, 0);
  await rest(page);
  await page.screenshot({ path: file });
}

/** What batch fits, in the tab of a recorded run. */
async function takeFit(window, out) {
  const { page } = window;
  await window.command('View: Close Primary Side Bar');
  await chooseFile(page, RECORDED);
  await seen(page, '[data-tab=fit]', 30_000);
  const frame = await widest(page);
  await frame.locator('[data-tab=fit]').click();
  await frame.locator('[data-control=fit-batch]').fill('8');
  await frame.locator('[data-control=fit-gpu]').evaluate(list => {
    list.value = '24';
    list.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await frame.locator('[data-value=fit-answer]').filter({ hasText: 'of 24' }).waitFor({ timeout: 60_000 });
  await rest(page);
  await frame.locator('.explorer').screenshot({ path: join(out, 'fit.png') });
}

/** Makes the pictures in media/pictures, or says in one sentence why not. */
export async function takeMedia() {
  await preparePython();
  const torch = findTorch();
  if (!torch) throw new Error('No Python here has PyTorch; GMT_TORCH_PYTHON may name one.');
  const out = inRoot('media/pictures');
  mkdirSync(out, { recursive: true });
  for (const [name, theme] of Object.entries(THEMES))
    await inWindow(torch, window => takeWhole(window, join(out, `window-${name}.png`)), theme, WHOLE);
  await inWindow(torch, window => takeFit(window, out));
  await inWindow(torch, window => takeViews(window, out));
  await inWindow(torch, async window => {
    const movie = new Movie(window.page, inRoot('build/movie'));
    await tell(window, movie);
    await movie.save(join(out, 'fix.gif'));
  });
}
