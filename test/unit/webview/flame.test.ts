import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Frame } from '../../../extension/protocol/trace';
import type { StackTree } from '../../../extension/protocol/requests/treeRequests';
import { flameLayout, moveIn, rowsOf } from '../../../webview/explorer/flame/flameLayout';
import { findNode, flameTree, search, type FlameNode } from '../../../webview/explorer/flame/tree';
import { HUE_COUNT } from '../../../extension/protocol/lineHue';
import { hueOf, nameLines } from '../../../webview/explorer/common/hues';

const TORCH = '/v/lib/python3.12/site-packages/torch';

/** Nodes as [parent, file, bytes by itself]; line and function follow from the file. */
function tree(nodes: readonly [number, string, number][]): StackTree {
  const sums = nodes.map(([, , self]) => self);
  for (let i = nodes.length - 1; i >= 0; i--) if (nodes[i]![0] >= 0) sums[nodes[i]![0]]! += sums[i]!;
  const frames: Frame[] = nodes.map(([, file]) => ({ file, line: 7, function: `in ${file}` }));
  return {
    revision: 1,
    nodes: nodes.length,
    totalBytes: nodes.reduce((sum, [, , self]) => sum + self, 0),
    totalCount: 93,
    id: Uint32Array.from(nodes, (_, i) => i + 10),
    parent: Int32Array.from(nodes, ([parent]) => parent),
    frame: Uint32Array.from(nodes, (_, i) => i),
    selfBytes: Float64Array.from(nodes, ([, , self]) => self),
    sumBytes: Float64Array.from(sums),
    liveCount: new Float64Array(nodes.length).fill(1),
    children: new Uint32Array(nodes.length),
    site: Uint32Array.from(nodes, (_, i) => i + 100),
    frames,
  };
}
const model = tree([
  [-1, '/a/train.py', 0],
  [0, `${TORCH}/module.py`, 0],
  [1, `${TORCH}/container.py`, 8],
  [2, '/a/model.py', 40],
  [1, `${TORCH}/other.py`, 0],
  [4, '/a/model.py', 12],
  [0, '/a/loss.py', 40],
]);
const outline = (node: FlameNode): string =>
  `${node.label} ${node.sumBytes}${node.children.length > 0 ? ` (${node.children.map(outline).join(', ')})` : ''}`;

test('the whole stands above the outermost frames, biggest first', () => {
  const whole = flameTree(model, false);
  assert.equal(whole.sumBytes, 100);
  assert.equal(whole.liveCount, 93, 'also blocks of nodes that are left out');
  assert.deepEqual(
    whole.children[0]!.children.map(node => [node.sumBytes, node.library]),
    [
      [60, true],
      [40, false],
    ],
  );
  assert.equal(whole.children[0]!.depth, 1);
});

test('a run of library frames is one, and a line that two ways lead to is there once', () => {
  const train = flameTree(model, true).children[0]!;
  assert.equal(outline(train), 'in /a/train.py 100 (torch: 3 frames 60 (in /a/model.py 52), in /a/loss.py 40)');
  const folded = train.children[0]!;
  assert.deepEqual([folded.folded, folded.selfBytes, folded.children[0]!.site], [3, 8, 103]);
});

test('no byte is counted twice by folding', () => {
  const selfBytes = (node: FlameNode): number =>
    node.children.reduce((sum, child) => sum + selfBytes(child), node.selfBytes);
  for (const fold of [true, false]) assert.equal(selfBytes(flameTree(model, fold)), 100);
});

test('a frame is as wide as its bytes, its children side by side below it', () => {
  const whole = flameTree(model, false);
  const rects = flameLayout(whole, 0);
  for (const { node, x, width, row } of rects) {
    assert.equal(row, node.depth);
    assert.ok(Math.abs(width - node.sumBytes / 100) < 1e-12);
    let at = x;
    for (const child of node.children) {
      const below = rects.find(rect => rect.node === child)!;
      assert.ok(Math.abs(below.x - at) < 1e-12);
      at += below.width;
    }
    assert.ok(at <= x + width + 1e-12);
  }
  assert.equal(rowsOf(rects), 5);
});

test('the zoomed frame takes the whole width, its callers stay above', () => {
  const whole = flameTree(model, false);
  const loss = findNode(whole, 16)!;
  assert.deepEqual(
    flameLayout(loss, 0).map(({ node, width, row, above }) => [node.id, width, row, above]),
    [
      [-1, 1, 0, true],
      [10, 1, 1, true],
      [16, 1, 2, false],
    ],
  );
});

test('what is narrower than a pixel is left out', () => {
  const shown = flameLayout(flameTree(model, false), 0.2).map(({ node }) => node.sumBytes);
  assert.deepEqual(shown, [100, 100, 60, 48, 40, 40]);
});

test('arrows lead to caller, called and siblings, and stop at the edge', () => {
  const whole = flameTree(model, false);
  const rects = flameLayout(whole, 0);
  const train = whole.children[0]!;
  const [torch, loss] = train.children as [FlameNode, FlameNode];
  assert.equal(moveIn(rects, train, 'ArrowDown'), torch);
  assert.equal(moveIn(rects, torch, 'ArrowRight'), loss);
  assert.equal(moveIn(rects, loss, 'ArrowRight'), loss);
  assert.equal(moveIn(rects, loss, 'ArrowLeft'), torch);
  assert.equal(moveIn(rects, loss, 'ArrowUp'), train);
  assert.equal(moveIn(rects, whole, 'ArrowUp'), whole);
  assert.equal(moveIn(rects, loss, 'Home'), whole);
  assert.equal(moveIn(rects, loss, 'Enter'), undefined);
  const zoomed = flameLayout(torch, 0);
  assert.equal(moveIn(zoomed, torch, 'ArrowRight'), torch, 'a sibling that is not shown is not reached');
});

test('a match inside a match counts once', () => {
  const whole = flameTree(model, false);
  const { ids, bytes } = search(whole, ' MODEL.py ');
  assert.deepEqual([[...ids].sort(), bytes], [[13, 15], 52]);
  assert.deepEqual([search(whole, 'train').bytes, search(whole, '/').bytes], [100, 100]);
  assert.equal(search(whole, '  ').ids.size, 0);
});

test('a name keeps its colour', () => {
  assert.deepEqual(hueOf('/a/model.py'), hueOf('/a/model.py'));
  const hues = new Set(Array.from({ length: 60 }, (_, i) => hueOf(`/a/file.py:${i}`).hue));
  assert.equal(hues.size, HUE_COUNT);
});

test('a line that the timeline stacks has its colour there; no other line has it in full', () => {
  nameLines([
    ['/a/model.py:3', 4],
    ['/a/train.py:9', 0],
  ]);
  assert.deepEqual(hueOf('/a/model.py:3'), { hue: 4, shade: 0 });
  assert.deepEqual(hueOf('/a/train.py:9'), { hue: 0, shade: 0 });
  const others = Array.from({ length: 60 }, (_, i) => hueOf(`/a/file.py:${i}`).shade);
  assert.ok(!others.includes(0));
  nameLines([]);
});
