// Modules as a tree: a part of a path is a node, and below the last one is what its memory is for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallTree } from '../../../extension/report/trees/callTree';
import { moduleTree } from '../../../extension/report/trees/moduleTree';
import { NO_MODULE } from '../../../extension/report/trees/modules';
import { siteWindow, type SiteQuery, type SiteWindow } from '../../../extension/protocol/trace';

const MODULES: Record<string, [string, number][]> = {
  parameter: [
    ['model.layers.0', 10],
    ['model.layers.1', 10],
    ['(root)', 3],
  ],
  activation: [
    ['model.layers.0', 50],
    [NO_MODULE, 7],
  ],
};
const source = {
  sites: ({ category, groupBy }: SiteQuery): SiteWindow =>
    siteWindow(
      (groupBy === 'module-path' ? (MODULES[category ?? ''] ?? []) : []).map(([label, liveBytes]) => ({
        ...{ label, liveBytes, liveCount: 1 },
        ...{ file: '', line: 0, function: '' },
      })),
    ),
};

test('parts of paths are nodes; what is equal in two layers stays apart', () => {
  const tree = moduleTree(new CallTree(), source, { layer: 'tensor', weight: 'modules', minShare: 0 });
  const path = (node: number): string => {
    const { function: name } = tree.frames[tree.frame[node]!]!;
    return tree.parent[node]! < 0 ? name : `${path(tree.parent[node]!)}/${name}`;
  };
  const nodes = Array.from({ length: tree.nodes }, (_, node) => `${path(node)} ${tree.sumBytes[node]}`);
  assert.deepEqual(nodes.sort(), [
    `${NO_MODULE} 7`,
    `${NO_MODULE}/activations 7`,
    '(root) 3',
    '(root)/parameters 3',
    'model 70',
    'model/layers 70',
    'model/layers/0 60',
    'model/layers/0/activations 50',
    'model/layers/0/parameters 10',
    'model/layers/1 10',
    'model/layers/1/parameters 10',
  ]);
  assert.deepEqual([tree.totalBytes, Math.max(...tree.site)], [80, 0]);
});
