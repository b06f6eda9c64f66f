import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { highOutliers, median, robustDeviation, theilSen } from '../../../extension/analysis/series/statistics';

const numbers = (minLength: number, maxLength = 40): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength, maxLength });
const indexes = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const near = (actual: number, expected: number, error = 1e-9): void =>
  assert.ok(Math.abs(actual - expected) <= error * (1 + Math.abs(expected)), `${actual} is not ${expected}`);

test('the median has as many values below as above', () => {
  fc.assert(
    fc.property(numbers(1), values => {
      const middle = median(values);
      const below = values.filter(value => value < middle).length;
      const above = values.filter(value => value > middle).length;
      assert.ok(below <= values.length / 2 && above <= values.length / 2);
    }),
  );
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.ok(Number.isNaN(median([])));
});

test('Theil-Sen is the median of all slopes', () => {
  fc.assert(
    fc.property(numbers(2, 25), y => {
      const x = indexes(y.length);
      const slopes = x.flatMap(i => x.filter(j => j > i).map(j => ((y[j] ?? 0) - (y[i] ?? 0)) / (j - i)));
      near(theilSen(x, y), median(slopes));
    }),
  );
  assert.ok(Number.isNaN(theilSen([1, 1], [2, 3])));
});

test('Theil-Sen finds a line in spite of one outlier in five', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 15, max: 60 }), (slope, n) => {
      const y = indexes(n).map(i => (i % 5 === 2 ? 1e6 : slope * i + 7));
      near(theilSen(indexes(n), y), slope);
    }),
  );
});

test('the robust deviation is the standard one for normal numbers, and an outlier does not move it', () => {
  // Twelve uniform numbers have a normal sum, nearly, of variance 1.
  let state = 3;
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const quantiles = indexes(20_000).map(() => indexes(12).reduce(sum => sum + next(), -6));
  near(robustDeviation(quantiles), 1, 0.02);
  near(robustDeviation([...quantiles, 1e9]), 1, 0.02);
});

test('an outlier is far from the habit in deviations and in times', () => {
  const habit = indexes(50).map(i => 100 + (i % 7));
  assert.deepEqual(highOutliers([...habit, 5000], 8, 4), [50]);
  assert.deepEqual(highOutliers([...habit, 150], 8, 4), [], 'many deviations, but not four times as big');
  assert.deepEqual(highOutliers(habit.fill(8), 8, 4), []);
});
