import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSES, type Pass } from '../../../extension/protocol/trace';
import { bandsIn, doneAt, drawBands } from '../../../webview/explorer/timeline/bands';
import type { Palette } from '../../../webview/explorer/common/theme';

const begins = (...all: [number, Pass][]): Float64Array =>
  Float64Array.from(all.flatMap(([timeNs, pass]) => [timeNs, PASSES.indexOf(pass)]));
const passes = begins([0, 'forward'], [400, 'backward'], [800, 'other'], [900, 'forward']);
const ranges = [
  { name: 'train_step', beginNs: 0, endNs: 800, thread: 0 },
  { name: 'attention', beginNs: 100, endNs: 300, thread: 0 },
];
const window = { fromNs: 0, toNs: 1000 };
const palette = {
  passes: { forward: 'blue', evaluation: 'purple', backward: 'orange', optimizer: 'green', other: 'grey' },
  ...{ text: 'white', font: 'sans', between: 'black' },
} as unknown as Palette;

test('what was done at a time is named with how long it lasted', () => {
  assert.deepEqual(doneAt({ passes, ranges, searches: [] }, 200, 1000), [
    'forward, 400 ns',
    'train_step › attention, 200 ns',
  ]);
  assert.deepEqual(doneAt({ passes, ranges, searches: [] }, 500, 1000), ['backward, 400 ns', 'train_step, 800 ns']);
  assert.deepEqual(doneAt({ passes, ranges, searches: [] }, 850, 1000), []);
  assert.deepEqual(doneAt({ passes, ranges, searches: [] }, 950, 1000), ['forward, 100 ns']);
  assert.deepEqual(doneAt({ passes: begins([10, 'forward']), ranges: [], searches: [] }, 5, 1000), []);
});

test('passes are drawn at the foot of the plot, ranges above them, labels where they fit; none without room for names', () => {
  assert.deepEqual(bandsIn({ passes, ranges: [], searches: [] }, window, 1000, 110), []);
  const bands = bandsIn({ passes, ranges, searches: [] }, window, 1000, 500);
  const drawn: unknown[] = [];
  const canvas = {
    ...{ save: () => {}, restore: () => {}, fillStyle: '' },
    fillRect(left: number, top: number, width: number) {
      if (this.fillStyle !== 'black') drawn.push([this.fillStyle, left, top, width]);
    },
    fillText: (text: string) => drawn.push(text),
  };
  const plot = { left: 10, right: 510, top: 0, bottom: 100 };
  drawBands(canvas as unknown as CanvasRenderingContext2D, plot, window, bands, palette);
  assert.deepEqual(drawn, [
    ...[['blue', 11, 87, 198], 'forward', ['orange', 211, 87, 198], 'backward', ['blue', 461, 87, 48], 'forward'],
    ...[['grey', 11, 61, 398], 'train_step', ['grey', 61, 74, 98], 'attention'],
  ]);
});

test('a search by the tracer is no part of what the program did', () => {
  const searches = [
    { fromNs: 150, toNs: 250 },
    { fromNs: 790, toNs: 850 },
  ];
  assert.deepEqual(doneAt({ passes, ranges, searches }, 110, 1000), [
    'forward, 300 ns',
    'train_step › attention, 100 ns',
  ]);
  assert.deepEqual(doneAt({ passes, ranges, searches }, 500, 1000), ['backward, 390 ns', 'train_step, 690 ns']);
  const drawn = bandsIn({ passes, ranges: [], searches }, window, 1000, 500);
  assert.deepEqual(
    drawn.map(({ label, fromNs, toNs }) => [label, fromNs, toNs]),
    [
      ['forward', 0, 150],
      ['forward', 250, 400],
      ['backward', 400, 790],
      ['forward', 900, 1000],
    ],
  );
});
