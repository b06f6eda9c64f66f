import { at, mannKendall, mean, median, theilSen, type Slope } from './statistics';
import { THRESHOLDS as T } from './thresholds';

// What tells growth without a bound from what only looks like it.

/** Steps without a rise after which growth has stopped, by the gaps between the last rises. */
export function silenceOf(gaps: readonly number[]): number {
  // Two events may be a coincidence: their distance is no habit yet.
  if (gaps.length === 0) return T.silentGaps * T.growthSteps;
  const longest = Math.max(...gaps);
  if (isRegular(gaps)) return Math.max(T.silentSteps, T.silentGaps * longest);
  return Math.max(T.silentSteps, T.silentUnequal * longest, T.silentMeans * mean(gaps));
}

/** Events that it takes, at one every `gap` steps. */
export function neededEvents(gap: number): number {
  return Math.min(T.mostEvents, Math.max(T.fewestEvents, Math.ceil(T.growthSteps / Math.max(1, gap))));
}

/** Steps from each event to the next. */
export function gapsOf(steps: readonly number[], events: readonly number[]): number[] {
  return events.slice(1).map((event, i) => at(steps, event) - at(steps, at(events, i)));
}

/** Rises and falls from an entry on, and whether the rises are more than chance would have. */
export function netRise(changes: readonly number[], from: number): { rising: boolean; rises: number; falls: number } {
  let [rises, falls, moves] = [0, 0, 0];
  for (const change of changes.slice(from)) {
    if (change > 0) rises += change;
    else falls -= change;
    if (change !== 0) moves++;
  }
  const share = (rises - falls) / (rises + falls || 1);
  return { rising: falls === 0 || (share >= T.netShare && share * Math.sqrt(moves) >= T.netScore), rises, falls };
}

/** It passed what it had reached before, outside the warm-up, and by a share of what it grew. */
export function isNewHigh(values: readonly number[], warm: number, from: number): boolean {
  let before = -Infinity;
  for (let i = Math.min(warm, from - 1); i < from; i++) before = Math.max(before, at(values, i));
  const last = at(values, values.length - 1);
  return last - before >= T.newHigh * (last - at(values, from - 1));
}

/** The same number of steps from each rise to the next, or nearly. */
export function isRegular(gaps: readonly number[]): boolean {
  return gaps.length > 0 && Math.max(...gaps) <= T.regularGaps * median(gaps);
}

/**
 * Events come less and less often: their mean time lies before the middle by more than chance allows (Laplace's test).
 * A series that has slowed before needs less to be slowing still.
 */
export function thinsOut(steps: readonly number[], events: readonly number[], from: number, slowed: boolean): boolean {
  const to = at(steps, steps.length - 1);
  const begin = at(steps, Math.max(0, from - 1));
  const times = events.map(event => at(steps, event) - 0.5);
  const score = (mean(times) - (begin + to) / 2) / ((to - begin) / Math.sqrt(12 * times.length));
  return score < -(slowed ? T.slowedScore : T.slowScore);
}

/** Theil-Sen's slope with its interval and Mann-Kendall's level, of at most 128 points, evenly chosen; NaN: too few of them. */
export function trendOf(steps: readonly number[], values: readonly number[]): Slope & { p: number } {
  const stride = Math.ceil(steps.length / 128);
  const chosen = steps.flatMap((_, i) => (i % stride === 0 ? [i] : []));
  const y = chosen.map(i => at(values, i));
  const line = theilSen(
    chosen.map(i => at(steps, i)),
    y,
  );
  return { ...(line ?? { slope: NaN, low: NaN, high: NaN }), p: mannKendall(y).p };
}

/** All about as much: what is concatenated in each epoch, not a record that is broken by less and less. */
export function isEven(changes: readonly number[], events: readonly number[]): boolean {
  const rises = events.map(event => at(changes, event));
  const usual = median(rises);
  return Math.max(...rises) <= T.evenRises * usual && Math.min(...rises) >= usual / T.evenRises;
}

/** Much less was gained a step in the second half of the time than in the first. A rate: a step without a reading may lie anywhere. */
export function gainFades(steps: readonly number[], values: readonly number[], from: number): boolean {
  const last = values.length - 1;
  const start = Math.max(0, from - 1);
  const middle = (at(steps, start) + at(steps, last)) / 2;
  const half = steps.findIndex(step => step >= middle);
  const rate = (begin: number, end: number): number =>
    (at(values, end) - at(values, begin)) / (at(steps, end) - at(steps, begin));
  return half < last && rate(half, last) < T.fadedGain * rate(start, half);
}
