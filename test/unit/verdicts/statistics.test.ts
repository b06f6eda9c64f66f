import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  highOutliers,
  mannKendall,
  median,
  normalCdf,
  robustDeviation,
  theilSen,
} from '../../../extension/analysis/series/statistics';

const numbers = (minLength: number, maxLength = 40): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength, maxLength });
const indexes = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const near = (actual: number, wanted: number, error = 1e-9): void =>
  assert.ok(Math.abs(actual - wanted) <= error * (1 + Math.abs(wanted)), `${actual} is not ${wanted}`);

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

test('Theil-Sen is the median of all slopes, and its interval holds it', () => {
  fc.assert(
    fc.property(numbers(2, 25), y => {
      const x = indexes(y.length);
      const slopes = x.flatMap(i => x.filter(j => j > i).map(j => ((y[j] ?? 0) - (y[i] ?? 0)) / (j - i)));
      const line = theilSen(x, y);
      assert.ok(line !== null);
      near(line.slope, median(slopes));
      assert.ok(line.low <= line.slope && line.slope <= line.high);
    }),
  );
  assert.equal(theilSen([1, 1], [2, 3]), null);
});

test('Theil-Sen finds a line in spite of one outlier in five', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 15, max: 60 }), (slope, n) => {
      const y = indexes(n).map(i => (i % 5 === 2 ? 1e6 : slope * i + 7));
      near(theilSen(indexes(n), y)?.slope ?? NaN, slope);
    }),
  );
});

test('the interval of Theil-Sen holds the true slope in about 95 of 100 noisy lines', () => {
  let held = 0;
  let state = 1;
  const noise = (): number => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647 - 0.5;
  };
  for (let round = 0; round < 400; round++) {
    const line = theilSen(
      indexes(30),
      indexes(30).map(i => 0.1 * i + noise()),
    );
    if (line !== null && line.low <= 0.1 && 0.1 <= line.high) held++;
  }
  assert.ok(held >= 360 && held <= 398, `${held} of 400`);
});

test('Mann-Kendall counts rising and falling pairs', () => {
  fc.assert(
    fc.property(numbers(2, 30), values => {
      let s = 0;
      values.forEach((a, i) => values.slice(i + 1).forEach(b => (s += Math.sign(b - a))));
      const trend = mannKendall(values);
      assert.equal(trend.s, s);
      assert.ok(trend.p >= 0 && trend.p <= 1 && Math.abs(trend.tau) <= 1);
      const turned = mannKendall(values.map(value => -value));
      near(turned.z, -trend.z);
    }),
  );
});

test('Mann-Kendall knows the variance of all orders, with and without ties', () => {
  for (const values of [
    [1, 2, 3, 4, 5],
    [1, 1, 2, 3, 3],
    [1, 1, 1, 2, 2],
  ]) {
    const all = orders(values).map(order => mannKendall(order).s);
    const variance = all.reduce((sum, s) => sum + s * s, 0) / all.length;
    const first = mannKendall(values);
    near(first.z, (first.s - Math.sign(first.s)) / Math.sqrt(variance));
  }
  assert.equal(mannKendall([5, 5, 5]).z, 0);
});

function orders(values: number[]): number[][] {
  if (values.length <= 1) return [values];
  return values.flatMap((value, i) => orders(values.toSpliced(i, 1)).map(rest => [value, ...rest]));
}

test('the normal distribution, against known values', () => {
  near(normalCdf(0), 0.5, 1e-7);
  near(normalCdf(1.959964), 0.975, 1e-6);
  near(normalCdf(-3), 0.0013499, 1e-6);
});

test('the robust deviation is the standard one for normal numbers, and an outlier does not move it', () => {
  // Quantiles of the normal distribution, in place of draws.
  const quantiles = indexes(999).map(i => {
    let [low, high] = [-5, 5];
    for (let step = 0; step < 40; step++) {
      const middle = (low + high) / 2;
      if (normalCdf(middle) < (i + 1) / 1000) low = middle;
      else high = middle;
    }
    return low;
  });
  near(robustDeviation(quantiles), 1, 0.01);
  near(robustDeviation([...quantiles, 1e9]), 1, 0.02);
});

test('an outlier is far from the habit in deviations and in times', () => {
  const habit = indexes(50).map(i => 100 + (i % 7));
  assert.deepEqual(highOutliers([...habit, 5000], 8, 4), [50]);
  assert.deepEqual(highOutliers([...habit, 150], 8, 4), [], 'many deviations, but not four times as big');
  assert.deepEqual(highOutliers(habit.fill(8), 8, 4), []);
});
