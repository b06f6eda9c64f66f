// What the user chose of the table, beside grouping, order and filter.
import { TREE_WEIGHTS, type TreeWeight } from '../../../extension/protocol/requests/treeRequests';
import { CHOICES, DEFAULT_CHOICE, type Choice } from '../common/columns';

export type TableChoice = typeof INITIAL_TABLE;
export const INITIAL_TABLE = {
  columns: DEFAULT_CHOICE,
  /** Rows are the tree of stacks, weighed so. */
  tree: false,
  weight: 'live' as TreeWeight,
};

/** As it was saved; what is missing or strange becomes the default. */
export function restoreTable(saved: unknown): TableChoice {
  if (typeof saved !== 'object' || saved === null) return INITIAL_TABLE;
  const { columns, tree, weight } = saved as Record<keyof TableChoice, unknown>;
  return {
    columns: Array.isArray(columns)
      ? CHOICES.map(([id]) => id).filter(id => (columns as unknown[]).includes(id))
      : INITIAL_TABLE.columns,
    tree: tree === true,
    weight: TREE_WEIGHTS.find(one => one === weight) ?? INITIAL_TABLE.weight,
  };
}

/** The chosen columns with this one added or taken away, in the order of the table. */
export function withColumn(columns: readonly Choice[], id: Choice): Choice[] {
  return CHOICES.map(([one]) => one).filter(one => (one === id) !== columns.includes(one));
}
