import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { questionFor, TimelineData } from '../../../webview/explorer/timeline/data';
import { highest, lastBytes, toPoints } from '../../../webview/explorer/timeline/timelinePoints';

const WINDOW = { fromNs: 0, toNs: 100 };
const buckets = (...rows: number[][]): Float64Array => Float64Array.from(rows.flat());

test('a peak between two low ends is drawn', () => {
  const points = toPoints(buckets([10, 5, 5, 5], [20, 1, 900, 6]), 0, WINDOW, 10);
  assert.equal(highest(points), 900);
  assert.ok(
    points.some(point => point.x >= 20 && point.y === 1),
    'and so is the valley',
  );
});

test('the value is held where nothing happened, to the end of the window', () => {
  const points = toPoints(buckets([10, 7, 7, 7], [80, 3, 3, 3]), 2, WINDOW, 10);
  assert.deepEqual(points[0], { x: 0, y: 2 });
  assert.ok(
    points.some(point => point.x === 80 && point.y === 7),
    'a step, not a slope, before the change',
  );
  assert.deepEqual(points.at(-1), { x: 100, y: 3 });
});

test('no bucket at all is a flat line at what was held before', () => {
  assert.deepEqual(toPoints(new Float64Array(), 42, WINDOW, 1), [
    { x: 0, y: 42 },
    { x: 100, y: 42 },
  ]);
});

test('a line keeps minimum and maximum, never goes back in time and has two points a bucket when dense', () => {
  const bucket = fc.record({ min: fc.nat(1000), up: fc.nat(1000), last: fc.double({ min: 0, max: 1, noNaN: true }) });
  fc.assert(
    fc.property(fc.array(bucket, { minLength: 1, maxLength: 60 }), fc.nat(1000), (list, before) => {
      const rows = list.map(({ min, up, last }, i) => [i * 10, min, min + up, Math.round(min + up * last)]);
      const points = toPoints(buckets(...rows), before, { fromNs: 0, toNs: list.length * 10 }, 10);
      const values = points.map(point => point.y);
      for (const [, min, max] of rows) assert.ok(values.includes(min!) && values.includes(max!));
      points.slice(1).forEach((point, i) => assert.ok(point.x >= points[i]!.x));
      assert.ok(points.length <= 2 * list.length + 3);
    }),
  );
});

test('a pointed time stands for the end of its bucket, whose figure is known; behind it for itself', () => {
  const timeline = buckets([10, 5, 50, 8], [20, 1, 9, 9], [60, 2, 7, 3]);
  const question = questionFor({ fromNs: 4, toNs: 64 }, 6, { process: -1, device: -1 });
  const before = buckets([1, 3, 3, 3]);
  const data = new TimelineData(question, [timeline, timeline, timeline, before, before, before]);
  const at = (timeNs: number): number[] => Object.values(data.momentAt('tensor', timeNs));
  assert.deepEqual(
    [at(5), at(12), at(40), at(61)],
    [
      [5, 3],
      [19, 8],
      [40, 9],
      [63, 3],
    ],
  );
  assert.equal(lastBytes(timeline, 0), 3);
  assert.equal(lastBytes(new Float64Array(), 4), 4);
  assert.equal(lastBytes(undefined, 4), 4);
});
