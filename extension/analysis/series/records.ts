import { at, median, sum } from './statistics';
import { THRESHOLDS as T } from './thresholds';

// Of levels without a trend, whatever their distribution, the i-th is higher than all before it with probability 1/i, independently of
// the others (Rényi 1962, "Théorie des éléments saillants d'une suite d'observations"). Growth makes such records again and again;
// what fills up makes them ever more seldom; what is freed loses the height that it has reached.

/** Values at the ends of steps. */
interface Levels {
  steps: readonly number[];
  values: readonly number[];
}

/** Entries from `warm` on that are higher than all before them. */
export function recordsOf(values: readonly number[], warm: number): number[] {
  let highest = Math.max(0, ...values.slice(0, warm));
  return [...values.keys()].slice(warm).filter(i => {
    const isRecord = at(values, i) > highest;
    if (isRecord) highest = at(values, i);
    return isRecord;
  });
}

/** Records that chance does not make, even where each level is one: of r levels in any order they all are in 1/r! of the cases. */
export function fewestRecords(): number {
  let [records, chance] = [1, 1];
  while (chance >= T.chance) chance /= ++records;
  return records;
}

/**
 * Of n records that come by chance at a constant rate (exponential distances), one distance is longer than ln n + ln 100 mean ones in one of a
 * hundred runs; where they are equal, half a distance more is enough. Between, as the distances spread.
 */
export function silenceOf(steps: readonly number[], records: readonly number[]): number {
  const gap = meanGap(steps, records);
  const gaps = records.slice(1).map((i, k) => at(steps, i) - at(steps, at(records, k)));
  const spread = Math.sqrt(sum(gaps.map(each => (each / gap - 1) ** 2)) / Math.max(1, gaps.length));
  const chance = gaps.length < 2 ? 1 : Math.min(1, spread);
  const regular = 1 + T.most;
  return Math.max(T.few, gap * (regular + chance * (Math.log(records.length / T.rare) - regular)));
}

/** Mean number of steps from one record to the next. */
export function meanGap(steps: readonly number[], records: readonly number[]): number {
  const span = at(steps, records.at(-1) ?? 0) - at(steps, records[0] ?? 0);
  return records.length > 1 ? span / (records.length - 1) : T.few;
}

/**
 * The newest records that come at one rate: that is the growth up to now. They begin behind a distance which records at their mean rate
 * would have in one of a hundred runs: a ratio to the mean of n others, by chance alone, is above x with probability (1 + x/n)^-n.
 */
export function newestRun(steps: readonly number[], records: readonly number[]): number[] {
  for (let from = records.length - fewestRecords(); from > 0; from--) {
    const n = records.length - from - 1;
    const mean = (at(steps, records.at(-1) ?? 0) - at(steps, records[from] ?? 0)) / n;
    const distance = at(steps, records[from] ?? 0) - at(steps, records[from - 1] ?? 0);
    if (distance > mean * n * ((records.length / T.rare) ** (1 / n) - 1)) return records.slice(from);
  }
  return [...records];
}

/** That `many` levels without a trend make at least `records` records. */
export function chanceOfRecords(many: number, records: number): number {
  // chances[r]: of r records so far; of one more the chance is 1/i at the i-th level.
  let chances = [1];
  for (let i = 1; i <= many; i++)
    chances = Array.from(
      { length: Math.min(chances.length + 1, records + 1) },
      (_, r) => (chances[r] ?? 0) * (r === records ? 1 : 1 - 1 / i) + (chances[r - 1] ?? 0) / i,
    );
  return chances[records] ?? 0;
}

/**
 * Student's t of the changes from one twelfth to the next, by their medians: a level that remembers the ones before it, as where as much
 * leaves as comes by chance, makes records too, but goes nowhere.
 */
export function drift(values: readonly number[]): number {
  const parts = Math.min(T.parts, values.length);
  const cut = (part: number): number => Math.floor((part * values.length) / parts);
  const levels = Array.from({ length: parts }, (_, part) => median(values.slice(cut(part), cut(part + 1))));
  const changes = levels.slice(1).map((level, i) => level - at(levels, i));
  const usual = sum(changes) / changes.length;
  const spread = Math.hypot(...changes.map(change => change - usual)) / Math.sqrt(changes.length - 1);
  return usual / (spread / Math.sqrt(changes.length));
}

/** The height that records brought came before the middle of their time by more than chance allows (Laplace's test): what fills up. */
export function thinsOut({ steps, values }: Levels, records: readonly number[], from: number): boolean {
  const [begin, end] = [at(steps, from), at(steps, values.length - 1)];
  let highest = at(values, from);
  const rises = records.map(i => {
    const rise = at(values, i) - highest;
    highest = at(values, i);
    return rise;
  });
  const height = sum(rises);
  const centre = sum(rises.map((rise, k) => rise * (at(steps, records[k] ?? 0) - 0.5))) / height;
  const deviation = (((end - begin) / Math.sqrt(12)) * Math.hypot(...rises)) / height;
  return centre - (begin + end) / 2 < -T.thinning * deviation;
}
