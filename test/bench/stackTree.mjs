// How long the call tree takes: 5,000 sites of 30 frames each: node test/bench/stackTree.mjs
import { build } from 'esbuild';
import { inRoot } from '../project/root.mjs';

const SITES = 5000;
const FRAMES = 30;
const ROUNDS = 30;

const outfile = inRoot('build/bench/stackTree.mjs');
const contents = "export * from './stackTree'; export * from './callTree';";
const stdin = { contents, resolveDir: inRoot('extension/report/trees'), loader: 'ts' };
await build({ stdin, outfile, bundle: true, format: 'esm' });
const { CallTree, stackTree } = await import(outfile);

/** Calls branch as in a model: the first frames are common to all, the last ones nearly one for each site. */
const frame = (site, depth) => {
  const line = depth < 6 ? 1 : site % 2 ** Math.min(13, depth - 4);
  return { file: `/home/user/project/module_${depth}.py`, line, function: `call_${depth}` };
};
const stacks = Array.from({ length: SITES }, (_, id) => ({
  frames: Array.from({ length: FRAMES }, (_, i) => frame(id, FRAMES - 1 - i)),
}));
const column = value => Float64Array.from(stacks, (_, i) => value(i));
const window = {
  revision: 1,
  id: Uint32Array.from(stacks, (_, i) => i),
  liveBytes: column(i => (i + 1) * 512),
  liveCount: column(() => 3),
};
const source = { sites: () => window, site: id => stacks[id] };

const tree = new CallTree();
const took = query => {
  const began = performance.now();
  const { nodes } = stackTree(tree, source, { layer: 'tensor', weight: 'live', minShare: 0, ...query });
  return { nodes, ms: performance.now() - began };
};
const first = took({});
const median = query => {
  const all = Array.from({ length: ROUNDS }, () => took(query)).sort((a, b) => a.ms - b.ms);
  return all[ROUNDS >> 1];
};
const rows = {
  'first time': first,
  'all nodes': median({}),
  'from 0.1 %': median({ minShare: 0.001 }),
  outermost: median({ open: [] }),
};
console.table(Object.entries(rows).map(([what, { nodes, ms }]) => ({ what, nodes, ms: ms.toFixed(1) })));
