// Ranges that a program names itself, as rows and in words.
import type { NamedRange, TraceSource } from './trace';

/** Each below those that it lies in, from row 0; `ranges` by their begins, the outer one first. What continues lasts until `untilNs`. */
export function rangeRows(
  ranges: readonly NamedRange[],
  untilNs: number,
): { name: string; fromNs: number; toNs: number; row: number }[] {
  const ends: number[] = [];
  return ranges.map(({ name, beginNs: fromNs, endNs }) => {
    const free = ends.findIndex(end => end <= fromNs);
    const row = free < 0 ? ends.length : free;
    const toNs = (ends[row] = Math.max(fromNs, endNs ?? untilNs));
    return { name, fromNs, toNs, row };
  });
}

const MOST_NAMES = 3;

/** `train_step › attention`: the innermost ones at a time; empty: there is none. */
export function rangePath(ranges: readonly NamedRange[], timeNs: number): string {
  const open = ranges.filter(({ beginNs, endNs }) => beginNs <= timeNs && (endNs ?? Infinity) > timeNs);
  const names = open.map(({ name }) => name);
  return names.slice(-MOST_NAMES).join(' › ');
}

/**
 * The same of a moment of a process, by the ranges of `thread`, or where that is in none (as one of a backward pass) of the first thread
 * that is.
 */
export function rangesAt(source: TraceSource, process: number, timeNs: number, thread = -1): string {
  const open = source.ranges({ process, fromNs: timeNs, toNs: timeNs + 1 });
  const first = Math.min(...open.map(range => range.thread));
  const rangeThread = open.some(range => range.thread === thread) ? thread : first;
  return rangePath(
    open.filter(range => range.thread === rangeThread),
    timeNs,
  );
}
