// Which rows of a long list are in sight; all are equally high, and their elements are reused.

/** Rows drawn above and below those in sight. */
const OVERSCAN = 6;

export class VirtualRows {
  private count = 0;
  private heightPx = 0;
  private topPx = 0;

  /** @param onChange other rows came into sight */
  constructor(
    private readonly scroller: HTMLElement,
    private readonly rowPx: number,
    onChange: () => void,
  ) {
    const look = (): void => {
      const before = this.range.join();
      this.heightPx = scroller.clientHeight;
      this.topPx = scroller.scrollTop;
      if (this.range.join() !== before) onChange();
    };
    new ResizeObserver(look).observe(scroller);
    scroller.addEventListener('scroll', look, { passive: true });
  }

  get totalHeight(): number {
    return this.count * this.rowPx;
  }

  /** Rows that fit into the view, at least one. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.rowPx) - 1);
  }

  resize(count: number): void {
    this.count = count;
  }

  visible(): { index: number; top: number }[] {
    const [first, end] = this.range;
    return Array.from({ length: Math.max(0, end - first) }, (_, i) => {
      return { index: first + i, top: (first + i) * this.rowPx };
    });
  }

  reveal(index: number): void {
    const top = index * this.rowPx;
    const { scrollTop, clientHeight } = this.scroller;
    this.scroller.scrollTop = Math.max(Math.min(scrollTop, top), top + this.rowPx - clientHeight);
  }

  /** The first row and the one behind the last; none while the list has no height. */
  private get range(): [number, number] {
    const { count, rowPx, heightPx, totalHeight } = this;
    const top = Math.max(0, Math.min(this.topPx, totalHeight - heightPx));
    const end = heightPx === 0 ? 0 : Math.ceil((top + heightPx) / rowPx) + OVERSCAN;
    return [Math.max(0, Math.floor(top / rowPx) - OVERSCAN), Math.min(count, end)];
  }
}
