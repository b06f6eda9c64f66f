// Pictures of the sample job in the stand-in, in several themes, made by the real program: build/screenshots/*.png.
// `--media` also keeps the dark one as the README's.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../project/build.mjs';
import { makeWorkspace, prepareStandIn } from '../host/run.mjs';
import { inRoot } from '../project/root.mjs';

const THEMES = { dark: 'Dark 2026', light: 'Light 2026', contrast: 'Default High Contrast' };

await build();
const problem = await prepareStandIn();
if (problem) {
  console.error(problem);
  process.exit(1);
}
const { traceSample } = await import('./window.mjs');
mkdirSync(inRoot('build/screenshots'), { recursive: true });
for (const [name, theme] of Object.entries(THEMES)) {
  const place = mkdtempSync(join(tmpdir(), 'pictures-'));
  const settings = { 'gpuMemoryTrace.simulateGpu': true, 'gpuMemoryTrace.pythonPath': 'python3' };
  const folder = makeWorkspace(settings, join(place, 'training'));
  const { page, frame, close } = await traceSample(folder, {
    settings: { 'workbench.colorTheme': theme },
    headless: true,
    size: { width: 1440, height: 900 },
  });
  try {
    await page.waitForTimeout(3500);
    await frame.locator('[data-row]').first().click(); // the line that grows
    await page.waitForTimeout(1500);
    const file = inRoot(`build/screenshots/explorer-${name}.png`);
    await page.screenshot({ path: file });
    console.log(file);
    if (name === 'dark' && process.argv.includes('--media')) copyFileSync(file, inRoot('media/explorer.png'));
  } finally {
    await close();
    rmSync(place, { recursive: true, force: true });
  }
}
