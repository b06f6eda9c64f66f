import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallTree } from '../../../extension/report/trees/callTree';
import { stackTree as buildTree } from '../../../extension/report/trees/stackTree';
import type { Frame, Site } from '../../../extension/protocol/trace';
import type { StackTree, StackTreeQuery } from '../../../extension/protocol/requests/treeRequests';
import { FakeTrace, makeInfo, makeSite, type FakeAllocation } from '../fakeTrace';

const frame = (text: string): Frame => {
  const [name = '', line] = text.split(':');
  return { file: `/p/${name}.py`, line: Number(line), function: name };
};
/** Frames as they are called, outermost first. */
const stack = (id: number, ...calls: string[]): Site => makeSite({ id, frames: calls.map(frame).reverse() });
const block = (site: number, bytes: number): FakeAllocation => {
  return { address: BigInt(site), bytes, process: 0, thread: 0, layer: 'tensor', site, timeNs: 0, device: 0 };
};
const trees = new WeakMap<FakeTrace, CallTree>();
function stackTree(source: FakeTrace, query: StackTreeQuery): StackTree {
  const tree = trees.get(source) ?? new CallTree();
  trees.set(source, tree);
  return buildTree(tree, source, query);
}
const query: StackTreeQuery = { layer: 'tensor', weight: 'live', minShare: 0 };

const stacks = [
  stack(1, 'main:9', 'step:4', 'forward:7'),
  stack(2, 'main:9', 'step:4', 'forward:8'),
  stack(3, 'main:9', 'step:4'),
  stack(4, 'worker:2'),
  makeSite({ id: 5 }),
];
const blocks = [block(1, 700), block(1, 50), block(2, 150), block(3, 90), block(4, 10), block(5, 1000)];
const made = (): FakeTrace => new FakeTrace(makeInfo({}), blocks, stacks);

/** `main:9/step:4 = self of sum (blocks, children, site)` for each node. */
function lines(tree: StackTree): string[] {
  const path = (node: number): string => {
    const { function: name, line } = tree.frames[tree.frame[node]!]!;
    const parent = tree.parent[node]!;
    return `${parent < 0 ? '' : `${path(parent)}/`}${name}:${line}`;
  };
  return Array.from(
    { length: tree.nodes },
    (_, node) =>
      `${path(node)} = ${tree.selfBytes[node]} of ${tree.sumBytes[node]} ` +
      `(${tree.liveCount[node]}, ${tree.children[node]}, ${tree.site[node]})`,
  );
}

test('stacks that begin alike are one branch; a node holds what lies below it', () => {
  const tree = stackTree(made(), query);
  assert.deepEqual(lines(tree).sort(), [
    ':0 = 1000 of 1000 (1, 0, 5)',
    'main:9 = 0 of 990 (4, 1, 1)',
    'main:9/step:4 = 90 of 990 (4, 2, 1)',
    'main:9/step:4/forward:7 = 750 of 750 (2, 0, 1)',
    'main:9/step:4/forward:8 = 150 of 150 (1, 0, 2)',
    'worker:2 = 10 of 10 (1, 0, 4)',
  ]);
  assert.equal(tree.totalBytes, 2000);
  for (let node = 0; node < tree.nodes; node++) assert.ok(tree.parent[node]! < node);
});

test('a part too small is left out, but not of the sums above it', () => {
  const tree = stackTree(made(), { ...query, minShare: 0.1 });
  assert.deepEqual(lines(tree).sort(), [
    ':0 = 1000 of 1000 (1, 0, 5)',
    'main:9 = 0 of 990 (4, 1, 1)',
    'main:9/step:4 = 90 of 990 (4, 1, 1)',
    'main:9/step:4/forward:7 = 750 of 750 (2, 0, 1)',
  ]);
  assert.deepEqual([tree.totalBytes, tree.totalCount], [2000, 6]);
});

test('only what is open comes with its children', () => {
  const source = made();
  const names = (tree: StackTree): string[] => lines(tree).map(line => line.split(' ')[0]!);
  const roots = stackTree(source, { ...query, open: [] });
  assert.deepEqual(names(roots).sort(), [':0', 'main:9', 'worker:2']);
  const main = roots.id[names(roots).indexOf('main:9')]!;
  assert.ok(names(stackTree(source, { ...query, open: [main] })).includes('main:9/step:4'));
  const all = stackTree(source, query);
  const step = all.id[names(all).indexOf('main:9/step:4')]!;
  const inner = stackTree(source, { ...query, open: [step] });
  assert.equal(inner.nodes, 3, 'an open node below a closed one is not seen');
});

test('each weight has its own figures, and a node the same number in all', () => {
  const source = made();
  const sites = source.sites.bind(source);
  source.sites = siteQuery => {
    const window = sites({ ...siteQuery, includeDead: false });
    assert.equal(siteQuery.includeDead, true);
    assert.equal(siteQuery.groupBy, 'site');
    return { ...window, allocatedBytes: window.liveBytes.map(bytes => bytes * 3) };
  };
  const churn = stackTree(source, { ...query, weight: 'churn' });
  assert.equal(churn.totalBytes, 6000);
  const peak = stackTree(source, { ...query, weight: 'peak' });
  assert.deepEqual(peak.id, churn.id);
});

test('a stack is read once; one that is not known yet is asked for again', () => {
  const read: number[] = [];
  const known = new Map(stacks.map(site => [site.id, site]));
  known.set(4, makeSite({ id: 4 }));
  const source = made();
  source.site = id => (read.push(id), known.get(id) ?? null);
  stackTree(source, query);
  assert.deepEqual(read.toSorted(), [1, 2, 3, 4, 5]);
  known.set(4, stacks[3]!);
  assert.ok(lines(stackTree(source, query)).includes('worker:2 = 10 of 10 (1, 0, 4)'));
  assert.deepEqual(read.slice(5).toSorted(), [4, 5]);
});

test('a node has the same number at another moment, where sites have other numbers', () => {
  const tree = new CallTree();
  const now = buildTree(tree, made(), query);
  const then = buildTree(tree, new FakeTrace(makeInfo({}), [block(7, 5)], [{ ...stacks[3]!, id: 7 }]), query);
  assert.deepEqual(lines(then), ['worker:2 = 5 of 5 (1, 0, 7)']);
  assert.equal(then.id[0], now.id[lines(now).indexOf('worker:2 = 10 of 10 (1, 0, 4)')]);
});

test('a trace without a block has no node', () => {
  const tree = stackTree(new FakeTrace(makeInfo({}), [], stacks), query);
  assert.deepEqual([tree.nodes, tree.totalBytes, tree.frames.length], [0, 0, 0]);
});
