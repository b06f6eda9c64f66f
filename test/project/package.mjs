// Packs the extension for this platform into gpu-memory-trace-<platform>-<version>.vsix.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { inRoot, must, run, log } from './root.mjs';

const target = `linux-${process.arch}`;
/** A license lies among them. */
const isBinary = file => readFileSync(file).subarray(0, 4).toString('latin1') === '\x7fELF';

try {
  rmSync(inRoot('dist'), { recursive: true, force: true }); // nothing of an older build ships
  await build(['--production']);
  // Only what debuggers read goes; the programs of the kernel side are data inside the tracer.
  const native = readdirSync(inRoot('dist/native'), { recursive: true, withFileTypes: true });
  const files = native.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  await must('strip', ['--strip-unneeded', ...files.filter(isBinary)]);
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
  ...(placeholder ? ['--no-rewrite-relative-links'] : []),
];
const packer = inRoot('test/project/vsce'); // packages of its own: they are more files than all that the tests need
await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: packer });
process.exit((await run(join(packer, 'node_modules/.bin/vsce'), flags)).code);
