// Code of the product for a benchmark to import.
import { build } from 'esbuild';
import { inRoot } from '../project/root.mjs';

/** What `contents`, TypeScript that stands in `folder`, exports; bundled as `name`. */
export async function bundled(name, contents, folder = '.') {
  const outfile = inRoot(`build/bench/${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: inRoot(folder), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return import(outfile);
}
