// Builds everything: packages when they are stale, native parts, bundles.
//   node test/project/build.mjs [--production]
import { pathToFileURL } from 'node:url';
import { install } from './install.mjs';
import { buildNative } from './native.mjs';
import { must } from './root.mjs';

export const bundle = (...flags) => must(process.execPath, ['esbuild.mjs', ...flags]);

export async function build(say = () => {}, flags = []) {
  say('packages …');
  await install();
  say('native parts …');
  await buildNative();
  say('bundles …');
  await bundle(...flags);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await build(text => console.log(text), process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
