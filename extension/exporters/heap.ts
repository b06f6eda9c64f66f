/** A binary heap: the item with the least key is on top. */
export class Heap<T> {
  private readonly items: T[] = [];

  constructor(private readonly key: (item: T) => number) {}

  get size(): number {
    return this.items.length;
  }

  /** In no order. */
  all(): readonly T[] {
    return this.items;
  }

  top(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    let at = this.items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.swapped(parent, at)) return;
      at = parent;
    }
  }

  pop(): T | undefined {
    const top = this.items[0];
    const last = this.items.pop();
    if (last === undefined || this.items.length === 0) return top;
    this.items[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const least = this.keyAt(right) < this.keyAt(left) ? right : left;
      if (!this.swapped(at, least)) return top;
      at = least;
    }
  }

  private keyAt(index: number): number {
    const item = this.items[index];
    return item === undefined ? Infinity : this.key(item);
  }

  /** Puts the two in order; false where they are. */
  private swapped(upper: number, lower: number): boolean {
    const [a, b] = [this.items[upper], this.items[lower]];
    if (a === undefined || b === undefined || this.key(a) <= this.key(b)) return false;
    [this.items[upper], this.items[lower]] = [b, a];
    return true;
  }
}
