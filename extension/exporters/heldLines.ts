import { remembered } from '../protocol/maps';
import type { Layer, LifetimeBatch } from '../protocol/trace';
import { isAlive, layerOf, type ExportInput } from './exportInput';
import { frameText, SiteBook } from './siteBook';

/** A line of source, by columns of a picture. */
export interface HeldLine {
  name: string;
  /** Bytes that were alive from a column's begin to its end, an entry a column. */
  held: Float64Array;
  /** The most in any column. */
  most: number;
}

/**
 * What each line held through each column of a span of time. Together never more than what was alive at any moment of the
 * column: each allocation counts only where it was alive throughout.
 */
export class HeldLines {
  readonly window: { fromNs: number; toNs: number; columnNs: number; columns: number };
  /** Bytes that begin and end to be held at a column's begin, by line. */
  private readonly changes = new Map<string, { name: string; columns: Float64Array }>();
  private readonly sites = new Map<number, Float64Array>();
  private readonly book: SiteBook;

  constructor(
    input: ExportInput,
    private readonly layer: Layer,
    { fromNs, toNs, columns }: { fromNs: number; toNs: number; columns: number },
  ) {
    this.book = new SiteBook(input);
    this.window = { fromNs, toNs, columns, columnNs: (toNs - fromNs) / columns };
  }

  add(batch: LifetimeBatch): void {
    const { fromNs, columnNs, columns } = this.window;
    for (let row = 0; row < batch.rows; row++) {
      if (layerOf(batch, row) !== this.layer) continue;
      const first = Math.max(0, Math.ceil(((batch.beginNs[row] ?? 0) - fromNs) / columnNs));
      const end = isAlive(batch, row) ? columns : Math.floor(((batch.endNs[row] ?? 0) - fromNs) / columnNs);
      if (end <= first) continue;
      const line = this.line(batch.site[row] ?? 0);
      const bytes = batch.bytes[row] ?? 0;
      line[first] = (line[first] ?? 0) + bytes;
      if (end < columns) line[end] = (line[end] ?? 0) - bytes;
    }
  }

  /** Those that held most at some time, biggest first. */
  biggest(count: number): HeldLine[] {
    const lines = [...this.changes.values()].map(({ name, columns }): HeldLine => {
      let sum = 0;
      const held = columns.map(change => (sum += change));
      return { name, held, most: held.reduce((most, bytes) => Math.max(most, bytes), 0) };
    });
    return lines.sort((a, b) => b.most - a.most).slice(0, count);
  }

  private line(site: number): Float64Array {
    return remembered(this.sites, site, () => {
      const frame = this.book.line(site);
      const key = frame.line > 0 ? `${frame.file}:${frame.line}` : `${frame.file} ${frame.function}`;
      const line = () => ({ name: frameText(frame), columns: new Float64Array(this.window.columns) });
      return remembered(this.changes, key, line).columns;
    });
  }
}
