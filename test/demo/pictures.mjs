// Pictures of the sample job in the stand-in, of each view in several themes, made by the real program:
// build/screenshots/<theme>-<view>.png. `--media`: only those of README.md, into media/pictures.
//   node test/demo/pictures.mjs [--media | VIEW …]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../project/build.mjs';
import { makeWorkspace, prepareStandIn } from '../host/runInCode.mjs';
import { inRoot } from '../project/root.mjs';
import { simulated } from '../simulator/variables.mjs';

const THEMES = {
  dark: 'Dark 2026',
  light: 'Light 2026',
  contrast: 'Default High Contrast',
  contrastLight: 'Default High Contrast Light',
};
const TRACING = { 'terminal.integrated.env.linux': simulated, 'gpuMemoryTrace.pythonPath': 'python3' };
const out = inRoot('build/screenshots');

const options = process.argv.slice(2);
const wanted = options.filter(word => !word.startsWith('--'));

await build();
const problem = await prepareStandIn();
if (problem) {
  console.error(problem);
  process.exit(1);
}
if (options.includes('--media')) {
  const { takeMedia } = await import('./media.mjs');
  await takeMedia();
  process.exit();
}
mkdirSync(out, { recursive: true });
const { takeViews } = await import('./views.mjs');
const place = mkdtempSync(join(tmpdir(), 'pictures-'));
const folder = makeWorkspace(TRACING, join(place, 'training'));
const choose = theme =>
  writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ ...TRACING, 'workbench.colorTheme': theme }));
try {
  await takeViews({ folder, themes: THEMES, choose, out, wanted });
} finally {
  rmSync(place, { recursive: true, force: true });
}
