// Robust statistics over series of one number a step. Nothing here knows of memory.

/** The middle value, or the mean of the two middle ones; NaN of nothing. */
export function median(values: readonly number[]): number {
  return middleOf([...values].sort((a, b) => a - b));
}

function middleOf(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

/** Standard deviation as the median absolute deviation tells it (times 1.4826: equal for normal data). */
export function robustDeviation(values: readonly number[]): number {
  const center = median(values);
  return 1.4826 * median(values.map(value => Math.abs(value - center)));
}

/** Slope of a line through points, per unit of x, with the interval in which it lies. */
export interface Slope {
  slope: number;
  low: number;
  high: number;
}

/**
 * Theil-Sen: the median of the slopes between all pairs of points, with Sen's interval (`z` = 1.96: 95 %). Up to 29 % of
 * the points may be anything. Costs the square of the number of points. Null with less than two different x.
 */
export function theilSen(x: readonly number[], y: readonly number[], z = 1.96): Slope | null {
  const slopes: number[] = [];
  for (let i = 0; i < x.length; i++) {
    for (let j = i + 1; j < x.length; j++) {
      const run = at(x, j) - at(x, i);
      if (run !== 0) slopes.push((at(y, j) - at(y, i)) / run);
    }
  }
  if (slopes.length === 0) return null;
  slopes.sort((a, b) => a - b);
  const slope = middleOf(slopes);
  const reach = z * Math.sqrt(kendallVariance(y));
  const low = Math.max(0, Math.floor((slopes.length - reach) / 2) - 1);
  const high = Math.min(slopes.length - 1, Math.ceil((slopes.length + reach) / 2));
  return { slope, low: at(slopes, low), high: at(slopes, high) };
}

/** Whether a series rises or falls, whatever its shape. */
export interface Trend {
  /** Pairs that rise less pairs that fall. */
  s: number;
  /** `s` over all pairs: 1 = always rises, -1 = always falls. */
  tau: number;
  /** `s` in standard deviations, with correction for continuity; 0 where nothing changes. */
  z: number;
  /** Probability of a `z` at least so far from zero without any trend (two-sided). */
  p: number;
}

/** The Mann-Kendall test, corrected for ties. Costs the square of the number of values. */
export function mannKendall(values: readonly number[]): Trend {
  const n = values.length;
  let s = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) s += Math.sign(at(values, j) - at(values, i));
  const variance = kendallVariance(values);
  const z = variance > 0 && s !== 0 ? (s - Math.sign(s)) / Math.sqrt(variance) : 0;
  return { s, tau: n > 1 ? (2 * s) / (n * (n - 1)) : 0, z, p: Math.min(1, 2 * (1 - normalCdf(Math.abs(z)))) };
}

/** Variance of Mann-Kendall's `s`: groups of equal values bring it down. */
function kendallVariance(values: readonly number[]): number {
  const n = values.length;
  const groups = new Map<number, number>();
  for (const value of values) groups.set(value, (groups.get(value) ?? 0) + 1);
  const term = (m: number): number => m * (m - 1) * (2 * m + 5);
  let ties = 0;
  for (const size of groups.values()) ties += term(size);
  return (term(n) - ties) / 18;
}

/** Probability that a standard normal number is below `z` (Abramowitz and Stegun 7.1.26, error below 1.5e-7). */
export function normalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = (series * Math.exp(-x * x)) / 2;
  return z > 0 ? 1 - tail : tail;
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

/** The value at `index`, which exists. */
export function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? NaN;
}

export function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}

/** 0 of no values. */
export function mean(values: readonly number[]): number {
  return sum(values) / Math.max(1, values.length);
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
