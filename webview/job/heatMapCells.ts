import type { JobLayer, JobRank } from '../../extension/protocol/job';

const MOST_COLUMNS = 256;

/** Bytes by rank (row) and by steps (column); NaN: not known, or the rank has not come so far. */
export interface Cells {
  columns: number;
  rows: number;
  most: number;
  lastStep: number;
  values: Float64Array;
}

/** Ranks have columns of their own for far and for near steps: here all have the same ones, each with its highest value. */
export function cellsOf(ranks: readonly JobRank[], layer: JobLayer): Cells {
  const lastStep = ranks.reduce((most, { series }) => Math.max(most, series.last.at(-1) ?? 0), 0);
  const columns = Math.max(1, Math.min(MOST_COLUMNS, lastStep));
  const cells = { columns, rows: ranks.length, most: 0, lastStep };
  const values = new Float64Array(ranks.length * columns).fill(NaN);
  ranks.forEach(({ series }, row) => {
    let from = 0;
    series.last.forEach((last, i) => {
      const value = series[layer][i] ?? null;
      const to = Math.max(from + 1, Math.ceil((last / Math.max(1, lastStep)) * columns));
      for (let column = from; column < to && value !== null; column++) {
        const at = row * columns + column;
        values[at] = Math.max(value, Number.isNaN(values[at]) ? 0 : (values[at] ?? 0));
      }
      from = Math.max(from, Math.floor((last / Math.max(1, lastStep)) * columns));
      if (value !== null) cells.most = Math.max(cells.most, value);
    });
  });
  return { ...cells, values };
}

/** The last step of a column. */
export function columnStep({ columns, lastStep }: Cells, column: number): number {
  return Math.max(1, Math.round(((column + 1) * lastStep) / columns));
}
