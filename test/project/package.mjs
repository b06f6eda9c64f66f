// Packs the extension into gpu-memory-trace-linux-<processor>-<version>.vsix, and the Python package into a wheel.
//   node test/project/package.mjs [x64|arm64]    without a word: for this machine
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crossBuild } from '../arm64/crossBuild.mjs';
import { build } from './build.mjs';
import { inRoot, must, root, run, log } from './root.mjs';
import { ensurePrograms } from './systemPackages.mjs';

const processor = process.argv[2] ?? process.arch;
/** Another processor's native parts are made by a cross compiler; attaching is not among them. */
const crossed = processor !== process.arch;
const target = `linux-${processor}`;
/** A license lies among them. */
const isBinary = file => readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF';

try {
  rmSync(inRoot('dist'), { recursive: true, force: true }); // nothing of an older build ships
  await build(['--production']);
  if (crossed) {
    if (processor !== 'arm64') throw new Error(`There is no build for ${processor}.`);
    rmSync(inRoot('dist/native'), { recursive: true });
    const left = await ensurePrograms(['aarch64-linux-gnu-g++'], ['g++-aarch64-linux-gnu']);
    if (left) throw new Error(left);
    await crossBuild(['all'], inRoot('dist/native'));
  }
  // Only what debuggers read goes; the programs of the kernel side are data inside the tracer.
  const native = readdirSync(inRoot('dist/native'), { recursive: true, withFileTypes: true });
  const files = native.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  await must(crossed ? 'aarch64-linux-gnu-strip' : 'strip', ['--strip-unneeded', ...files.filter(isBinary)]);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
// Links and pictures of README.md become absolute by the repository's address, which only the owner of the project knows.
const { repository } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
const placeholder = repository.url.includes('/OWNER/');
if (placeholder) log('package.json names no repository yet (OWNER): links and pictures of README.md stay relative.');
// Everything that ships is bundled, so no package is packed.
const flags = [
  'package',
  '--no-dependencies',
  '--target',
  target,
  '--allow-unused-files-pattern', // translations, once there are any
  ...(placeholder ? ['--no-rewrite-relative-links'] : []),
];
const packer = inRoot('test/project/vsce'); // packages of its own: they are more files than all that the tests need
await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: packer });
const { code } = await run(join(packer, 'node_modules/.bin/vsce'), flags);
await must('python3', ['test/project/wheel.py', inRoot('dist/native'), root]);
if (crossed) rmSync(inRoot('dist/native'), { recursive: true }); // they are none of this machine
process.exit(code);
