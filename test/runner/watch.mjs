// Runs unit tests again when what they are made of changes:  npm run test:watch [-- PART …], a part as in `npm test -- unit/PART`.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { install } from '../project/install.mjs';
import { inRoot, root, run } from '../project/root.mjs';

const GATHER_MS = 200;
const folder = inRoot('build/test');
const selected = process.argv.slice(2).map(part => `unit/${part}`);
const isSelected = name =>
  name.endsWith('.test.js') && (selected.length > 0 ? selected : ['unit/']).some(part => name.startsWith(part));
const waiting = new Set();
let running = false;
let timer;

async function runWaiting() {
  if (running || waiting.size === 0) return;
  const files = [...waiting].map(name => join(folder, name)).filter(existsSync);
  waiting.clear();
  running = true;
  await run(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', ...files]);
  running = false;
  void runWaiting();
}

await install();
rmSync(folder, { recursive: true, force: true });
const bundler = spawn(process.execPath, ['esbuild.mjs', '--watch'], { cwd: root, stdio: 'inherit' });
bundler.once('exit', code => process.exit(code ?? 1));
// The bundler removes the folder when it starts, and afterwards writes a file only where its contents changed.
mkdirSync(inRoot('build'), { recursive: true });
watch(inRoot('build'), { recursive: true }, (_, name) => {
  const test = String(name).replace(/^test\//, '');
  if (!isSelected(test)) return;
  waiting.add(test);
  clearTimeout(timer);
  timer = setTimeout(() => void runWaiting(), GATHER_MS);
});
