import { LAYERS, type LifetimeBatch } from '../protocol/trace';
import { firstWhere } from '../base/bisect';

const COLUMNS = [
  'address',
  'bytes',
  'beginNs',
  'endNs',
  'stream',
  'site',
  'process',
  'device',
  'layer',
  'kind',
] as const;
type Column = (typeof COLUMNS)[number];

/** Index of the driver layer in a batch's `layer` column. */
export const DRIVER = LAYERS.indexOf('driver');
export const TENSOR = LAYERS.indexOf('tensor');

/**
 * The allocations that are alive and those that ended last, at most so many; the others are dropped and `cutoffNs` rises: what
 * happened after it is complete. Addresses are numbers: those of GPUs have at most 49 bits.
 */
export class LifetimeTable {
  rows = 0;
  cutoffNs = -1;
  /** Ended ones that were dropped. */
  dropped = 0;
  private capacity = 4096;
  private columns = makeColumns(this.capacity);

  constructor(private readonly mostEnded: number) {}

  get(column: Column, row: number): number {
    return this.columns[column][row] ?? 0;
  }

  alive(row: number): boolean {
    return Number.isNaN(this.columns.endNs[row]);
  }

  /** Batches come about in the order in which allocations ended, the live ones last. */
  add(batch: LifetimeBatch): void {
    this.reserve(this.rows + batch.rows);
    for (const name of COLUMNS) {
      const [from, to] = [batch[name], this.columns[name]];
      for (let row = 0; row < batch.rows; row++) to[this.rows + row] = Number(from[row]);
    }
    this.rows += batch.rows;
    if (this.endedRows() > 2 * this.mostEnded) this.finish();
  }

  /** After the last batch: no more than the requested number of ended ones is left. */
  finish(): void {
    const ended = this.endedRows();
    if (ended > this.mostEnded) this.drop(ended - this.mostEnded);
  }

  private drop(count: number): void {
    for (let row = 0; row < count; row++) this.cutoffNs = Math.max(this.cutoffNs, this.get('endNs', row));
    this.dropped += count;
    for (const name of COLUMNS) this.columns[name].copyWithin(0, count, this.rows);
    this.rows -= count;
  }

  private endedRows(): number {
    return firstWhere(this.rows, row => this.alive(row));
  }

  private reserve(rows: number): void {
    if (rows <= this.capacity) return;
    while (this.capacity < rows) this.capacity *= 2;
    const larger = makeColumns(this.capacity);
    for (const name of COLUMNS) larger[name].set(this.columns[name]);
    this.columns = larger;
  }
}

function makeColumns(rows: number): Record<Column, Float64Array> {
  return Object.fromEntries(COLUMNS.map(name => [name, new Float64Array(rows)])) as Record<Column, Float64Array>;
}
