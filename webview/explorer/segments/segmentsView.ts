// The segment map on the page: a canvas over a scroller, one item of it active.
import { t } from '@vscode/l10n';
import { el, onFrame } from '../../dom';
import { drawSegments, readTheme, ROW_PX, SegmentGeometry, type SegmentTheme } from './canvas';
import type { SegmentColours } from './colours';
import { moveItem, type SegmentItem, type SegmentItems } from './items';
import { onThemeChange } from '../common/theme';
import { revealRow } from '../common/rowKeys';
import { Tooltip } from '../common/tooltip';

export interface SegmentActions {
  /** The texts of an item, the shortest first. */
  describe(item: SegmentItem): string[];
  /** Another item is the active one; null: none. */
  active(item: SegmentItem | null): void;
  /** Click or Enter. */
  choose(item: SegmentItem): void;
  openLine(item: SegmentItem): void;
}

const LABEL = t(
  'Allocator segments. Left and Right move between blocks and gaps, Up and Down between segments, Enter shows a block, Ctrl+Enter opens its line.',
);

export class SegmentView {
  readonly element: HTMLElement;
  private readonly spacer = el('div', {});
  private readonly scroller = el('div', { class: 'segment-scroller', role: 'application', tabindex: 0 }, this.spacer);
  private readonly canvas = el('canvas', { 'aria-hidden': 'true' });
  private readonly tooltip: Tooltip;
  private items: SegmentItems | null = null;
  private colours: SegmentColours | null = null;
  private geometry: SegmentGeometry | null = null;
  private theme: SegmentTheme | null = null;
  private activeItem: SegmentItem | null = null;
  private toScale = true;
  private only = '';

  constructor(private readonly actions: SegmentActions) {
    this.scroller.setAttribute('aria-label', LABEL);
    this.scroller.setAttribute('aria-roledescription', t('segment map'));
    this.element = el('div', { class: 'segment-frame' }, this.scroller, this.canvas);
    this.tooltip = new Tooltip(this.element);
    this.scroller.addEventListener('scroll', () => onFrame(this.draw));
    this.scroller.addEventListener('keydown', event => this.onKey(event));
    this.scroller.addEventListener('pointermove', event => this.onPointer(event));
    this.scroller.addEventListener('click', event => this.onClick(event));
    this.scroller.addEventListener('dblclick', event => this.onDoubleClick(event));
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    onThemeChange(() => {
      this.theme = null;
      onFrame(this.draw);
    });
  }

  /** New data: the active item stays where it still is. */
  show(items: SegmentItems, colours: SegmentColours): void {
    const { activeItem, items: before } = this;
    if (colours.by !== this.colours?.by) this.theme = null;
    this.items = items;
    this.colours = colours;
    this.activeItem = activeItem && before ? items.follow(activeItem, before) : null;
    this.spacer.style.height = `${items.segments * ROW_PX}px`;
    // Many may be slivers beside it.
    if (before === null) this.scroller.scrollTop = items.largest * ROW_PX;
    this.resize();
    this.actions.active(this.activeItem);
  }

  forget(): void {
    this.items = this.colours = this.geometry = this.activeItem = null;
    this.spacer.style.height = '0';
    onFrame(this.draw);
  }

  scale(toScale: boolean): void {
    if (toScale === this.toScale) return;
    this.toScale = toScale;
    this.resize();
  }

  /** Only blocks of this line are in full colour; '': all. */
  highlight(line: string): void {
    this.only = line;
    onFrame(this.draw);
  }

  /** Makes an item the active one and brings it into view. */
  activate(item: SegmentItem): void {
    this.activeItem = item;
    revealRow(this.scroller, item.segment * ROW_PX, ROW_PX);
    onFrame(this.draw);
    this.actions.active(item);
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.scroller;
    if (clientWidth === 0 || !this.items) return;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.canvas.style.width = `${clientWidth}px`;
      this.canvas.style.height = `${clientHeight}px`;
    }
    this.geometry = new SegmentGeometry(this.items, clientWidth, this.toScale);
    onFrame(this.draw);
  }

  private readonly draw = (): void => {
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const ratio = devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { items, colours, geometry } = this;
    if (!items || !colours || !geometry) return context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.theme ??= readTheme(colours.by);
    const { scrollTop, clientHeight: height } = this.scroller;
    const { theme, activeItem: active, only } = this;
    drawSegments(context, { items, colours, theme, geometry, scrollTop, height, active, only });
  };

  private itemAt(event: MouseEvent): SegmentItem | null {
    const box = this.scroller.getBoundingClientRect();
    return this.geometry?.itemAt(event.clientX - box.left, event.clientY - box.top + this.scroller.scrollTop) ?? null;
  }

  private onPointer(event: PointerEvent): void {
    const item = this.itemAt(event);
    if (item) this.tooltip.show(this.actions.describe(item), event.clientX, event.clientY);
    else this.tooltip.hide();
  }

  private onClick(event: MouseEvent): void {
    const item = this.itemAt(event);
    if (!item) return;
    this.activate(item);
    if (event.ctrlKey || event.metaKey) this.actions.openLine(item);
    else this.actions.choose(item);
  }

  private onDoubleClick(event: MouseEvent): void {
    const item = this.itemAt(event);
    if (item) this.actions.openLine(item);
  }

  private onKey(event: KeyboardEvent): void {
    const { items } = this;
    if (!items || items.segments === 0 || event.altKey) return;
    const from = this.activeItem ?? items.itemsOf(0)[0];
    if (!from) return;
    const control = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PX) - 1);
    const to = control ? undefined : moveItem(items, from, event.key, page);
    if (to) this.activate(this.activeItem ? to : from);
    else if (event.key === 'Enter' && control) this.actions.openLine(from);
    else if (event.key === 'Enter' || event.key === ' ') this.actions.choose(from);
    else return;
    event.preventDefault();
  }
}
