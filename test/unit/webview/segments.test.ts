import assert from 'node:assert/strict';
import type { SegmentMap } from '../../../extension/protocol/trace';
import { SegmentGeometry } from '../../../webview/explorer/segments/canvas';
import { palette, SegmentColours } from '../../../webview/explorer/segments/colours';
import { fragmentationText, leftOutText, moveItem, SegmentItems } from '../../../webview/explorer/segments/items';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
type Spec = {
  bytes: number;
  blocks: readonly (readonly [offset: number, bytes: number, site?: number, age?: number])[];
};

/** Segments of so many MB with blocks at offsets in MB, 1 GB apart. */
function mapOf(specs: readonly Spec[], more: Partial<SegmentMap> = {}): SegmentMap {
  const blocks = specs.flatMap((spec, segment) =>
    spec.blocks.map(([offset, bytes, site = 1, age = 0]) => ({ segment, offset, bytes, site, age })),
  );
  const live = specs.map(spec => spec.blocks.reduce((sum, [, bytes]) => sum + bytes * MB, 0));
  const gap = (spec: Spec): number => {
    let [end, most] = [0, 0];
    for (const [offset, bytes] of [...spec.blocks, [spec.bytes, 0] as const]) {
      most = Math.max(most, offset - end);
      end = offset + bytes;
    }
    return most * MB;
  };
  return {
    revision: 1,
    source: 'framework',
    segmentsLeftOut: 0,
    pools: [],
    pool: new Uint32Array(specs.length),
    address: BigUint64Array.from(specs, (_, i) => BigInt(i + 1) << 30n),
    bytes: Float64Array.from(specs, spec => spec.bytes * MB),
    liveBytes: Float64Array.from(live),
    largestGapBytes: Float64Array.from(specs, gap),
    stream: new BigUint64Array(specs.length),
    mapped: new Uint8Array(specs.length),
    site: new Uint32Array(specs.length).fill(9),
    blocks: {
      rows: blocks.length,
      leftOut: 0,
      leftOutBytes: 0,
      outside: 0,
      outsideBytes: 0,
      segment: Uint32Array.from(blocks, block => block.segment),
      offsetBytes: Float64Array.from(blocks, block => block.offset * MB),
      bytes: Float64Array.from(blocks, block => block.bytes * MB),
      site: Uint32Array.from(blocks, block => block.site),
      ageSteps: Float64Array.from(blocks, block => block.age),
      category: new Uint8Array(blocks.length),
    },
    ...more,
  };
}

const map = mapOf([
  {
    bytes: 20,
    blocks: [
      [2, 4],
      [6, 4],
      [14, 2],
    ],
  },
  { bytes: 2, blocks: [] },
  { bytes: 10, blocks: [[0, 10]] },
]);
const items = new SegmentItems(map);

test('blocks and gaps of a segment are as long as it is, in order', () => {
  assert.deepEqual(
    items.itemsOf(0).map(({ kind, offset, bytes, block }) => [kind, offset / MB, bytes / MB, block]),
    [
      ['gap', 0, 2, -1],
      ['block', 2, 4, 0],
      ['block', 6, 4, 1],
      ['gap', 10, 4, -1],
      ['block', 14, 2, 2],
      ['gap', 16, 4, -1],
    ],
  );
  for (let segment = 0; segment < 3; segment++) {
    const sum = items.itemsOf(segment).reduce((all, item) => all + item.bytes, 0);
    assert.equal(sum, map.bytes[segment]);
  }
  assert.deepEqual(items.itemsOf(3), []);
});

test('what lies at an offset, and the longest gap', () => {
  assert.equal(items.at(0, 6 * MB)?.block, 1);
  assert.equal(items.at(0, 6 * MB - 1)?.block, 0);
  assert.equal(items.at(0, 20 * MB), null);
  assert.deepEqual([items.largestGap()?.offset, items.largestGap()?.bytes], [10 * MB, 4 * MB]);
  assert.equal(new SegmentItems(mapOf([{ bytes: 1, blocks: [[0, 1]] }])).largestGap(), null);
});

test('keys lead to neighbours, and to the same place of the next segment', () => {
  const at = (segment: number, offset: number) => items.at(segment, offset * MB)!;
  assert.equal(moveItem(items, at(0, 2), 'ArrowRight', 5)?.block, 1);
  assert.equal(moveItem(items, at(0, 0), 'ArrowLeft', 5)?.offset, 0);
  assert.deepEqual(moveItem(items, at(0, 6), 'ArrowDown', 5), at(1, 0));
  assert.deepEqual(moveItem(items, at(1, 0), 'ArrowUp', 5), at(0, 10));
  assert.equal(moveItem(items, at(0, 0), 'PageDown', 5)?.segment, 2);
  assert.equal(moveItem(items, at(0, 0), 'Enter', 5), undefined);
  assert.equal(moveItem(items, at(0, 0), 'End', 5)?.offset, 16 * MB);
});

test('an item is found again in newer data by its address', () => {
  const later = new SegmentItems(mapOf([{ bytes: 20, blocks: [[6, 4]] }], { address: BigUint64Array.of(1n << 30n) }));
  assert.deepEqual(later.follow(items.at(0, 6 * MB)!, items), later.at(0, 6 * MB));
  assert.equal(later.follow(items.at(2, 0)!, items), null);
});

test('a sentence says how much is free, where, and the longest gap', () => {
  assertSentence(fragmentationText(map, true));
  assertSentence(fragmentationText(mapOf([{ bytes: 1, blocks: [[0, 1]] }]), true));
  for (const running of [true, false]) assertSentence(fragmentationText(mapOf([]), running));
  assertSentence(fragmentationText(mapOf([{ bytes: 4, blocks: [] }], { source: 'driver' }), true));
});

test('what is not drawn is said', () => {
  assert.equal(leftOutText(map), '');
  const blocks = { ...map.blocks, leftOut: 3, leftOutBytes: MB, outside: 1, outsideBytes: 2 * MB };
  assertSentence(leftOutText({ ...map, blocks, segmentsLeftOut: 1 }));
  const none = mapOf([]);
  assertSentence(leftOutText({ ...none, blocks: { ...none.blocks, outside: 3323, outsideBytes: MB } }));
});

test('bars are to one scale, or each as wide as the view; a point finds its block', () => {
  const scaled = new SegmentGeometry(items, 201, true);
  assert.deepEqual([scaled.barPx(0), scaled.barPx(1), scaled.barPx(2)], [200, 20, 100]);
  assert.deepEqual(scaled.place(0, 6 * MB, 4 * MB), { x: 60, width: 40 });
  assert.equal(scaled.itemAt(61, 5)?.block, 1);
  assert.equal(scaled.itemAt(150, 25), null, 'beside a shorter bar');
  assert.equal(scaled.itemAt(10, 400), null, 'below the last one');
  const filled = new SegmentGeometry(items, 201, false);
  assert.deepEqual([filled.barPx(1), filled.itemAt(150, 25)?.kind], [200, 'gap']);
});

const places = {
  site: Uint32Array.of(1, 2, 3),
  file: ['/a/m.py', '/a/m.py', ''],
  line: Uint32Array.of(4, 4, 0),
  function: ['f', 'f', ''],
};
const coloured = mapOf([
  {
    bytes: 9,
    blocks: [
      [0, 1, 1, 0],
      [1, 1, 2, 8],
      [2, 3, 3, 9],
      [5, 1, 7, 500],
    ],
  },
]);

test('one line has one colour, whatever its stacks; what has no line has its own', () => {
  const colours = new SegmentColours({ map: coloured, places }, 'line');
  const [a, b, none, unknown] = colours.block;
  assert.equal(a, b);
  assert.equal(none, unknown);
  assert.notEqual(a, none);
  assert.deepEqual(
    colours.keys().map(key => key.bytes / MB),
    [4, 2],
  );
  assertSentence(
    colours
      .keys()
      .map(({ text }) => text)
      .join('\n'),
  );
  const shades = palette('line', ['red', 'a', 'b', 'c', 'd', 'e'], 'grey');
  assert.match(shades[none!]!, /grey/);
  assert.equal(new Set(shades).size, shades.length);
});

test('ages fall into five steps of one colour', () => {
  const colours = new SegmentColours({ map: coloured, places }, 'age');
  assert.deepEqual([...colours.block], [0, 2, 3, 4]);
  assert.deepEqual(
    colours.keys().map(key => key.bytes / MB),
    [1, 0, 1, 3, 1],
  );
});
