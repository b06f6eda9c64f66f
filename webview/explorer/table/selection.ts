// Which rows are selected. Rows move while the program runs: a row is known by its key, wherever it stands.

export class Selection {
  /** The row that keys act on. */
  active: { index: number; key: string } | null = null;
  /** Where a range begins. */
  private anchor = 0;
  keys = new Set<string>();

  get size(): number {
    return this.keys.size;
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  clear(): void {
    this.active = null;
    this.keys = new Set();
  }

  /** Only this row. */
  one(index: number, key: string): void {
    this.active = { index, key };
    this.anchor = index;
    this.keys = new Set([key]);
  }

  /** A row that is not here yet will be the only one. */
  await(index: number, key: string): void {
    this.one(index, key);
    this.keys = new Set();
  }

  /** This row as well, or no more. */
  toggle(index: number, key: string): void {
    this.active = { index, key };
    this.anchor = index;
    if (!this.keys.delete(key)) this.keys.add(key);
  }

  /** The active row changes, the selected ones stay. */
  move(index: number, key: string): void {
    this.active = { index, key };
  }

  /** Rows [from, to) of a range that ends at `index`. */
  rangeTo(index: number): { from: number; to: number } {
    return { from: Math.min(this.anchor, index), to: Math.max(this.anchor, index) + 1 };
  }

  /** The active row stands elsewhere now. */
  moved(index: number): void {
    if (!this.active) return;
    if (this.anchor === this.active.index) this.anchor = index;
    this.active.index = index;
  }
}
