import { at, mean, median } from './statistics';

// Where a series changes its ways: pieces of equal rate, falls back to the start, periods.

/** Entries [from, to) of a series with about one mean. */
export interface Piece {
  from: number;
  to: number;
  mean: number;
}

export interface PieceOptions {
  /** Fewest entries of a piece. */
  shortest: number;
  /** Gain in squares, over the variance inside the pieces, from which on two pieces are better than one. */
  gain: number;
  /** Variance is taken to be at least the square of this share of the mean size of an entry. */
  floor: number;
}

/** Cuts a series where its mean changes, the clearest change first (binary segmentation by least squares). */
export function piecesOf(values: readonly number[], options: PieceOptions): Piece[] {
  const sums = prefixSums(values);
  const scale = mean(values.map(Math.abs));
  const floor = (options.floor * scale) ** 2;
  const cut = (from: number, to: number): number[] => {
    const place = bestCut(sums, from, to, options.shortest);
    if (place === null || place.gain <= options.gain * Math.max(place.variance, floor)) return [];
    return [...cut(from, place.at), place.at, ...cut(place.at, to)];
  };
  const ends = [...cut(0, values.length), values.length];
  return ends.map((to, i) => {
    const from = i === 0 ? 0 : at(ends, i - 1);
    return { from, to, mean: to > from ? (at(sums.plain, to) - at(sums.plain, from)) / (to - from) : 0 };
  });
}

interface Sums {
  plain: Float64Array;
  squares: Float64Array;
}

function prefixSums(values: readonly number[]): Sums {
  const plain = new Float64Array(values.length + 1);
  const squares = new Float64Array(values.length + 1);
  values.forEach((value, i) => {
    plain[i + 1] = at(plain, i) + value;
    squares[i + 1] = at(squares, i) + value * value;
  });
  return { plain, squares };
}

/** Sum of squared distances from the mean of [from, to). */
function spread(sums: Sums, from: number, to: number): number {
  const sum = at(sums.plain, to) - at(sums.plain, from);
  return Math.max(0, at(sums.squares, to) - at(sums.squares, from) - (sum * sum) / (to - from));
}

function bestCut(
  sums: Sums,
  from: number,
  to: number,
  shortest: number,
): { at: number; gain: number; variance: number } | null {
  let best = -1;
  let least = Infinity;
  for (let place = from + shortest; place <= to - shortest; place++) {
    const rest = spread(sums, from, place) + spread(sums, place, to);
    if (rest < least) [least, best] = [rest, place];
  }
  if (best < 0) return null;
  const gain = spread(sums, from, to) - least;
  return gain > 0 ? { at: best, gain, variance: least / Math.max(1, to - from - 2) } : null;
}

/** A fall that took back most of what had gathered since the fall before. */
export interface Reset {
  /** First entry after the fall. */
  at: number;
  /** Highest value before it, and how far that lies above the ramp's start. */
  peak: number;
  height: number;
  /** Value after it. */
  trough: number;
  /** Entries since the ramp's start. */
  length: number;
}

/**
 * Finds resets: one entry lower than the one before by at least `share` of the ramp's height, and by at least `rises`
 * times the ramp's usual rise (so that one block going is no reset). A fall of that many rises which takes back less is
 * none, but ends the ramp.
 */
export function findResets(values: readonly number[], share: number, rises: number): Reset[] {
  const resets: Reset[] = [];
  let start = 0;
  let [floor, peak] = [at(values, 0), at(values, 0)];
  let ups: number[] = [];
  for (let i = 1; i < values.length; i++) {
    const change = at(values, i) - at(values, i - 1);
    const height = peak - floor;
    if (change < 0 && ups.length > 0 && -change >= rises * median(ups)) {
      const trough = at(values, i);
      if (-change >= share * height) resets.push({ at: i, peak, height, trough, length: i - start });
      start = i;
      floor = peak = trough;
      ups = [];
      continue;
    }
    if (change > 0) ups.push(change);
    peak = Math.max(peak, at(values, i));
    floor = Math.min(floor, at(values, i));
  }
  return resets;
}

/**
 * The lag at which a series best repeats itself, between 2 and a half of its length; null where its autocorrelation
 * stays below `least` everywhere. Of lags about as good, the shortest.
 */
export function findPeriod(values: readonly number[], least: number): number | null {
  const n = values.length;
  const level = mean(values);
  const off = values.map(value => value - level);
  const power = mean(off.map(value => value * value));
  if (!(power > 0)) return null;
  const likeness = (lag: number): number => {
    let sum = 0;
    for (let i = lag; i < n; i++) sum += at(off, i) * at(off, i - lag);
    return sum / (n - lag) / power;
  };
  const all = Array.from({ length: (n >> 1) + 1 }, (_, lag) => (lag < 1 ? 1 : likeness(lag)));
  let best: number | null = null;
  for (let lag = 2; lag < all.length - 1; lag++) {
    const value = at(all, lag);
    const isPeak = value >= least && value > at(all, lag - 1) && value >= at(all, lag + 1);
    if (isPeak && (best === null || value > at(all, best) + 0.05)) best = lag;
  }
  return best;
}
