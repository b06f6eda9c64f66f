// Where a grid gets its rows from: a list that the host sorts, or a tree.
import type { Row } from '../common/rows';

export interface RowSource {
  readonly total: number;
  /** Bytes of a full bar. */
  readonly fullBytes: number;
  /** null: not here (yet). */
  row(index: number): Row | null;
  /** Where the row stands, among those that are here; -1: not among them. */
  indexOf(key: string): number;
  /** Rows [from, to), also those that are not here. */
  rows(from: number, to: number): Promise<Row[]>;
}
