// Builds what ships: packages when they are stale, native parts, bundles.
//   node test/project/build.mjs [--production]
import { pathToFileURL } from 'node:url';
import { install } from './install.mjs';
import { buildNative } from './native.mjs';
import { inPart } from './progress.mjs';
import { must, log } from './root.mjs';

export const bundle = (...flags) => must(process.execPath, ['esbuild.mjs', ...flags]);

/** Says what is done, and how long it took; throws what goes wrong. */
export async function build(flags = []) {
  for (const [name, work] of [
    ['packages', install],
    ['native parts', buildNative],
    ['bundles', () => bundle(...flags)],
  ]) {
    log(`${name} …`);
    const { error, output, seconds } = await inPart(name, work);
    if (output) log(output.trimEnd());
    if (error) throw error;
    if (seconds >= 1) log(`${name}: ${seconds.toFixed(0)} s`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await build(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
