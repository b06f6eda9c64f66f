// Packs the extension for this platform into gpu-memory-trace-<platform>-<version>.vsix.
import { rmSync } from 'node:fs';
import { build } from './build.mjs';
import { inRoot, run } from './root.mjs';

const target = `linux-${process.arch}`;
try {
  rmSync(inRoot('dist'), { recursive: true, force: true }); // nothing of an older build ships
  await build(text => console.log(text), ['--production']);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
// Everything that ships is bundled, so no package is packed.
const flags = [
  'package',
  '--no-dependencies',
  '--target',
  target,
  '--allow-missing-repository',
  '--no-rewrite-relative-links',
];
process.exit((await run(inRoot('node_modules/.bin/vsce'), flags)).code);
