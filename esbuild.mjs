// Bundles: the extension, its engine, the command line and the page into dist (what ships), the tests into build/test.
//   node esbuild.mjs [--watch] [--production]
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = fileURLToPath(new URL('.', import.meta.url));
process.chdir(root);
const watch = process.argv.includes('--watch');
const production = process.argv.includes('--production');

/** Files under `folder` whose names end so, or an empty list where there is no such folder. */
function find(folder, ending) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(name => name.endsWith(ending))
    .sort();
}

const shared = {
  bundle: true,
  minify: true, // a third of what a short command costs is that its bundle is parsed
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
};
const host = { ...shared, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode', '*.node'] };
/** Files of their own, read when they are needed: what stands behind the commands, and libraries as big as that. */
const apart = {
  name: 'apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^(\.|\.\.\/exporters)\/(parts|parquet|mcpSdk)$/ }, ({ path }) => ({
      path: `./${basename(path)}`,
      external: true,
    })),
};
const shipped = { ...host, plugins: [apart], supported: { 'dynamic-import': false } };
/** Without the scales of chart.js that the page does not use, 20 KB: their class fields read properties, so they would be kept. */
const unusedScales = {
  name: 'unusedScales',
  setup: ({ onLoad }) =>
    onLoad({ filter: /chart\.js\/dist\/chart\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /(?<=static defaults = |callback: )(TimeScale\.defaults|Ticks\.formatters\.\w+)/g,
        '/* @__PURE__ */ (() => $1)()',
      ),
    })),
};
const page = { ...shared, plugins: [unusedScales], platform: 'browser', format: 'iife', target: 'es2022' };
const test = {
  ...host,
  minify: false,
  sourcemap: 'inline',
  external: [...host.external, 'mocha', 'fast-check', 'dependency-cruiser'],
};

const bundles = [
  { ...shipped, entryPoints: ['extension/main.ts'], outfile: 'dist/extension.js' },
  { ...shipped, entryPoints: ['extension/parts.ts'], outfile: 'dist/parts.js' },
  { ...shipped, entryPoints: ['extension/cli.ts'], outfile: 'dist/cli.js', banner: { js: '#!/usr/bin/env node' } },
  { ...shipped, entryPoints: ['extension/engine.ts'], outfile: 'dist/engine.js' },
  { ...host, entryPoints: ['extension/exporters/parquet.ts'], outfile: 'dist/parquet.js' },
  { ...host, entryPoints: ['extension/cli/mcp/mcpSdk.ts'], outfile: 'dist/mcpSdk.js' },
  { ...page, entryPoints: ['webview/explorer/explorerMain.ts'], outfile: 'dist/webview/explorer.js' },
  { ...page, entryPoints: ['webview/recorded/recordedMain.ts'], outfile: 'dist/webview/recorded.js' },
  { ...page, entryPoints: ['webview/doctor/doctorMain.ts'], outfile: 'dist/webview/doctor.js' },
  { ...page, entryPoints: ['webview/job/jobMain.ts'], outfile: 'dist/webview/job.js' },
  ...['unit', 'golden', 'cli', 'host', 'torch/editor', 'ecosystem/debugger'].map(kind => ({
    ...test,
    entryPoints: [...find(`test/${kind}`, '.test.ts'), ...find(`test/${kind}`, 'index.ts')],
    outdir: `build/test/${kind}`,
    outbase: `test/${kind}`,
  })),
].filter(bundle => bundle.entryPoints.length > 0 && bundle.entryPoints.every(existsSync));

rmSync('build/test', { recursive: true, force: true });
if (watch) {
  for (const bundle of bundles) await (await esbuild.context({ ...bundle, logLevel: 'info' })).watch();
} else {
  await Promise.all(bundles.map(bundle => esbuild.build(bundle)));
}

const codicons = 'node_modules/@vscode/codicons/dist';
mkdirSync('dist/webview', { recursive: true });
for (const file of ['codicon.css', 'codicon.ttf']) copyFileSync(join(codicons, file), join('dist/webview', file));
if (existsSync('dist/cli.js')) chmodSync('dist/cli.js', 0o755);
