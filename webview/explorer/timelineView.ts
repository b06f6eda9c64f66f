// The timeline: chart, legend, tooltip, and moving through time by wheel, drag and keys.
import { formatBytes, formatDuration } from '../../extension/protocol/format';
import type { Series } from '../../extension/protocol/trace';
import { el, setAttribute, type Frames } from '../dom';
import { TimelineChart, type DrawnSeries } from './chart';
import { DRAWN, type TimelineData } from './timelineData';
import { FOLLOW, panBy, visibleWindow, zoomAt, type Zoom } from './zoom';

export interface TimelineActions {
  zoom(zoom: Zoom): void;
  toggle(series: Series): void;
  /** The data was asked for another width. */
  need(): void;
}
const NAMES: Record<DrawnSeries, string> = { tensor: 'live tensors', reserved: 'reserved', driver: 'driver' };
const ZOOM_STEP = 1.25;
const PAN_STEP = 0.15;

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas = el('canvas', { 'aria-hidden': 'true' });
  private readonly surface = el('div', { class: 'timeline-surface', tabindex: 0, role: 'application' }, this.canvas);
  private readonly cursor = el('div', { class: 'timeline-cursor', 'aria-hidden': 'true' });
  private readonly tooltip = el('div', { class: 'timeline-tooltip', role: 'tooltip' });
  private readonly follow = el('button', { class: 'link', 'data-action': 'follow', type: 'button' }, 'Whole run');
  private readonly legend = new Map<DrawnSeries, HTMLButtonElement>();
  private readonly chart: TimelineChart;
  private data: TimelineData | null = null;
  private zoom: Zoom = FOLLOW;
  private hidden: readonly Series[] = [];
  private runNs = 0;
  private pointerX: number | null = null;
  private drag: { x: number; zoom: Zoom; runNs: number } | null = null;

  constructor(
    private readonly frames: Frames,
    private readonly actions: TimelineActions,
  ) {
    const keys = el('div', { class: 'legend' }, ...DRAWN.map(series => this.legendItem(series)), this.follow);
    this.surface.append(this.cursor, this.tooltip);
    this.element = el('section', { class: 'timeline', 'aria-label': 'Timeline' }, keys, this.surface);
    this.chart = new TimelineChart(this.canvas, () => this.frames.add(this.draw));
    this.follow.title = 'Show the whole run and follow it (Home)';
    this.follow.addEventListener('click', () => this.actions.zoom(FOLLOW));
    this.listen();
  }

  /** Width of the plot in pixels, for the number of buckets to ask. */
  get pixels(): number {
    return this.chart.width;
  }

  recolour(): void {
    this.chart.recolour();
    this.frames.add(this.draw);
  }

  setData(data: TimelineData): void {
    this.data = data;
    this.frames.add(this.draw);
  }

  forget(): void {
    this.data = null;
  }

  update(zoom: Zoom, hidden: readonly Series[], runNs: number): void {
    if (zoom === this.zoom && hidden === this.hidden && runNs === this.runNs) return;
    this.zoom = zoom;
    this.hidden = hidden;
    this.runNs = runNs;
    this.frames.add(this.draw);
  }

  private readonly draw = (): void => {
    const window = visibleWindow(this.zoom, this.runNs);
    this.follow.hidden = this.zoom.spanNs === null;
    const tensors = this.data?.has('tensor') ?? false;
    const curves = DRAWN.map(series => ({
      series,
      points: this.data?.points(series, window.toNs) ?? [],
      shown: !this.hidden.includes(series),
      area: series === 'tensor' || (series === 'driver' && !tensors),
    }));
    this.chart.draw(curves, window);
    if (this.data && !this.data.question.fits(this.chart.width)) this.actions.need();
    for (const [series, button] of this.legend)
      setAttribute(button, 'aria-pressed', String(!this.hidden.includes(series)));
    const span = `${formatDuration(window.fromNs)} to ${formatDuration(window.toNs)}`;
    const hint = 'Arrow keys move, plus and minus zoom, Home follows the run.';
    const now = DRAWN.map(series => `${NAMES[series]} ${formatBytes(this.data?.bytesAt(series, window.toNs) ?? 0)}`);
    setAttribute(this.surface, 'aria-label', `GPU memory from ${span}. At the end: ${now.join(', ')}. ${hint}`);
    this.drawCursor();
  };

  private readonly drawCursor = (): void => {
    const { left, right } = this.chart.plot;
    const x = this.pointerX;
    const inside = this.data !== null && x !== null && x >= left && x <= right && this.drag === null;
    this.cursor.hidden = this.tooltip.hidden = !inside;
    if (!inside || !this.data) return;
    const { fromNs, toNs } = visibleWindow(this.zoom, this.runNs);
    const timeNs = fromNs + ((x - left) / Math.max(right - left, 1)) * (toNs - fromNs);
    const lines = DRAWN.filter(series => !this.hidden.includes(series)).map(series => {
      const bytes = formatBytes(this.data!.bytesAt(series, timeNs));
      return el('div', {}, el('i', { 'data-part': series }), `${NAMES[series]} `, el('b', { class: 'number' }, bytes));
    });
    this.tooltip.replaceChildren(el('div', { class: 'dim' }, formatDuration(timeNs)), ...lines);
    this.cursor.style.transform = `translateX(${x}px)`;
    const onRight = x < (left + right) / 2;
    this.tooltip.style.transform = onRight ? `translateX(${x + 10}px)` : `translateX(calc(${x - 10}px - 100%))`;
  };

  private legendItem(series: DrawnSeries): HTMLElement {
    const button = el('button', { class: 'legend-item', type: 'button', 'data-series': series });
    button.append(el('i', { 'data-part': series }), el('span', {}, NAMES[series]));
    button.title = `Show or hide: ${NAMES[series]}`;
    button.addEventListener('click', () => this.actions.toggle(series));
    this.legend.set(series, button);
    return button;
  }

  private listen(): void {
    const surface = this.surface;
    surface.addEventListener('wheel', event => this.onWheel(event), { passive: false });
    surface.addEventListener('pointerdown', event => this.onPointerDown(event));
    surface.addEventListener('pointermove', event => this.onPointerMove(event));
    surface.addEventListener('pointerup', () => (this.drag = null));
    surface.addEventListener('pointercancel', () => (this.drag = null));
    surface.addEventListener('pointerleave', () => this.movePointer(null));
    surface.addEventListener('dblclick', () => this.actions.zoom(FOLLOW));
    surface.addEventListener('keydown', event => this.onKey(event));
  }

  private onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.move(panBy(this.zoom, this.runNs, event.deltaX / this.chart.width));
      return;
    }
    const factor = ZOOM_STEP ** Math.max(-4, Math.min(4, event.deltaY / 60));
    this.move(zoomAt(this.zoom, this.runNs, factor, this.place(event.offsetX)));
  }

  private onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.surface.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, zoom: this.zoom, runNs: this.runNs };
  }

  private onPointerMove(event: PointerEvent): void {
    const drag = this.drag;
    this.movePointer(event.offsetX);
    if (!drag || drag.zoom.spanNs === null) return;
    const part = (drag.x - event.offsetX) / this.chart.width;
    if (part !== 0) this.move(panBy(drag.zoom, drag.runNs, part));
  }

  private movePointer(x: number | null): void {
    this.pointerX = x;
    this.frames.add(this.drawCursor);
  }

  private onKey(event: KeyboardEvent): void {
    const next = this.keyZoom(event.key);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.move(next);
  }

  private keyZoom(key: string): Zoom | null {
    switch (key) {
      case 'ArrowLeft':
        return panBy(this.zoom, this.runNs, -PAN_STEP);
      case 'ArrowRight':
        return panBy(this.zoom, this.runNs, PAN_STEP);
      case '+':
      case '=':
        return zoomAt(this.zoom, this.runNs, 1 / ZOOM_STEP, this.middle);
      case '-':
        return zoomAt(this.zoom, this.runNs, ZOOM_STEP, this.middle);
      case 'Home':
        return FOLLOW;
      default:
        return null;
    }
  }

  private move(zoom: Zoom): void {
    this.zoom = zoom; // several wheel events come between two updates
    this.frames.add(this.draw);
    this.actions.zoom(zoom);
  }

  /** Where the keys zoom: the present while it is followed, else the middle. */
  private get middle(): number {
    return this.zoom.endNs === null ? 1 : 0.5;
  }

  private place(x: number): number {
    const { left, right } = this.chart.plot;
    return Math.min(1, Math.max(0, (x - left) / Math.max(right - left, 1)));
  }
}
