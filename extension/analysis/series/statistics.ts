// Robust statistics over series of one number a step. Nothing here depends on memory.

/** The middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

/** Standard deviation by the median absolute deviation (times 1.4826: equal for normal data). */
export function robustDeviation(values: readonly number[]): number {
  const center = median(values);
  return 1.4826 * median(values.map(value => Math.abs(value - center)));
}

/**
 * Slope of a line through points, per unit of x (Theil-Sen): the median of the slopes between all pairs of points. Up to 29 % of
 * the points may be anything. Costs the square of the number of points. NaN with less than two different x.
 */
export function theilSen(x: readonly number[], y: readonly number[]): number {
  const slopes: number[] = [];
  for (let i = 0; i < x.length; i++) {
    for (let j = i + 1; j < x.length; j++) {
      const run = at(x, j) - at(x, i);
      if (run !== 0) slopes.push((at(y, j) - at(y, i)) / run);
    }
  }
  return median(slopes);
}

/**
 * Indices of values far above the habit: more than `deviations` robust deviations and more than `factor` medians above
 * zero. The factor keeps a series that never changes (deviation 0) from calling a small step an outlier.
 */
export function highOutliers(values: readonly number[], deviations: number, factor: number): number[] {
  const center = median(values);
  const limit = Math.max(center + deviations * robustDeviation(values), center * factor);
  return values.flatMap((value, i) => (value > limit ? [i] : []));
}

/** Of each entry and all before it. */
export function runningSum(values: readonly number[]): number[] {
  let sum = 0;
  return values.map(value => (sum += value));
}

/** The value at `index`, which exists. */
export function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? NaN;
}

export function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}

/** null: one of them is not known. */
export function sumAll(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : sum(values.filter(value => value !== null));
}

/** Of those that are known; null: none is. */
export function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null);
  return known.length === 0 ? null : sum(known);
}

/** Numbers of a series are NaN where nothing is known. */
export const numberOrNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;
