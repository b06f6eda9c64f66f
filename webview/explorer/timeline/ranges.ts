// The bands above that of the passes: the ranges that the program names, the innermost ones lowest.
import type { NamedRange } from '../../../extension/protocol/trace';
import { rangePath, rangeRows } from '../../../extension/protocol/ranges';
import type { TimeWindow } from './zoom';

export interface DrawnRange {
  name: string;
  fromNs: number;
  toNs: number;
  /** From the lowest, 0. */
  row: number;
}

/** Narrower ones are not asked for. */
export const NARROWEST_PX = 5;
const MOST_ROWS = 3;

/** Those that are seen in the window; of more than three rows the innermost three. */
export function drawnRanges(ranges: readonly NamedRange[], window: TimeWindow, untilNs: number): DrawnRange[] {
  const rows = rangeRows(ranges, untilNs).filter(one => one.toNs > window.fromNs && one.fromNs < window.toNs);
  const lowest = Math.max(...rows.map(({ row }) => row));
  return rows.map(one => ({ ...one, row: lowest - one.row })).filter(({ row }) => row < MOST_ROWS);
}

/** Of those that are known at a time; empty: none is. */
export function rangesAt(ranges: readonly NamedRange[], timeNs: number): string {
  return rangePath(
    ranges.filter(({ beginNs, endNs }) => beginNs <= timeNs && (endNs ?? Infinity) > timeNs).map(({ name }) => name),
  );
}
