// Ranges that a program names itself, as rows and in words.
import type { NamedRange } from './answers.gen';

interface RangeInRow {
  name: string;
  fromNs: number;
  toNs: number;
  row: number;
}

/** Each below those that it lies in; `ranges` by their begins, the outer one first. What goes on lasts until `untilNs`. */
export function rangeRows(ranges: readonly NamedRange[], untilNs: number): RangeInRow[] {
  const ends: number[] = [];
  return ranges.map(({ name, beginNs: fromNs, endNs }) => {
    const toNs = Math.max(fromNs, endNs ?? untilNs);
    const free = ends.findIndex(end => end <= fromNs);
    const row = free < 0 ? ends.length : free;
    ends[row] = toNs;
    return { name, fromNs, toNs, row };
  });
}

const MOST_NAMES = 3;

/** `train_step › attention`: the innermost ones of these. */
export function rangePath(names: readonly string[]): string {
  return names.slice(-MOST_NAMES).join(' › ');
}
