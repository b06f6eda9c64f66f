// The visible rows of a long list: positions by @tanstack/virtual-core, elements reused.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { VirtualizerOptions } from '@tanstack/virtual-core';

const OVERSCAN = 6;

export class VirtualRows {
  private readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  private count = 0;
  private rowHeight: number;

  constructor(
    private readonly scroller: HTMLElement,
    rowHeight: number,
    private readonly onChange: () => void,
  ) {
    this.rowHeight = rowHeight;
    this.virtualizer = new Virtualizer(this.options());
    this.virtualizer._didMount();
    this.virtualizer._willUpdate();
  }

  get totalHeight(): number {
    return this.count * this.rowHeight;
  }

  /** Rows that fit into the view, at least one. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 1);
  }

  resize(count: number, rowHeight: number): void {
    if (count === this.count && rowHeight === this.rowHeight) return;
    const measured = rowHeight !== this.rowHeight;
    this.count = count;
    this.rowHeight = rowHeight;
    this.virtualizer.setOptions(this.options());
    if (measured) this.virtualizer.measure();
    this.virtualizer._willUpdate();
  }

  visible(): { index: number; top: number }[] {
    return this.virtualizer.getVirtualItems().map(item => ({ index: item.index, top: item.start }));
  }

  reveal(index: number): void {
    this.virtualizer.scrollToIndex(index, { align: 'auto' });
  }

  private options(): VirtualizerOptions<HTMLElement, HTMLElement> {
    return {
      count: this.count,
      getScrollElement: () => this.scroller,
      estimateSize: () => this.rowHeight,
      overscan: OVERSCAN,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => this.onChange(),
    };
  }
}
