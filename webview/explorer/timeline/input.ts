// Wheel, mouse and keys on the chart, as the actions that they mean.
import { between, firstSpan, nudge, type Span } from './span';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import { FOLLOW, panBy, visibleWindow, zoomAt, type Zoom } from '../state/zoom';

/** What the input starts from. */
export interface InputState {
  zoom: Zoom;
  runNs: number;
  span: Span | null;
  /** A drag selects, without Shift too. */
  selecting: boolean;
  /** Spans keep to these steps; null: to no steps. */
  steps: StepTimes | null;
  /** The plot, in pixels of the surface. */
  plot: { left: number; right: number };
}
export interface InputActions {
  zoom(zoom: Zoom): void;
  /** `done`: the mouse let go of it, or a key made it. */
  span(span: Span | null, done: boolean): void;
  pointer(x: number | null): void;
  /** Shows what the span selects first of all. */
  apply(): void;
}

const ZOOM_STEP = 1.25;
const PAN_STEP = 0.15;
const CLICK_PX = 3;

/** Keys zoom around the present while it is followed, else around the middle. */
const zoomBy = (factor: number) => (zoom: Zoom, runNs: number) =>
  zoomAt(zoom, runNs, factor, zoom.endNs === null ? 1 : 0.5);
const KEY_ZOOMS: Readonly<Record<string, (zoom: Zoom, runNs: number) => Zoom>> = {
  ArrowLeft: (zoom, runNs) => panBy(zoom, runNs, -PAN_STEP),
  ArrowRight: (zoom, runNs) => panBy(zoom, runNs, PAN_STEP),
  '+': zoomBy(1 / ZOOM_STEP),
  '=': zoomBy(1 / ZOOM_STEP),
  '-': zoomBy(ZOOM_STEP),
  Home: () => FOLLOW,
};

export class TimelineInput {
  private drag: { x: number; zoom: Zoom; runNs: number } | null = null;
  /** Where a span that is being drawn begins, in pixels. */
  private brush: number | null = null;
  private left: number | null = null;

  constructor(
    private readonly surface: HTMLElement,
    private readonly state: () => InputState,
    private readonly actions: InputActions,
  ) {
    surface.addEventListener('wheel', event => this.onWheel(event), { passive: false });
    surface.addEventListener('pointerdown', event => this.onDown(event));
    surface.addEventListener('pointermove', event => this.onMove(event));
    surface.addEventListener('pointerup', event => this.onUp(event));
    surface.addEventListener('pointercancel', () => (this.drag = this.brush = null));
    surface.addEventListener('pointerenter', () => (this.left = null));
    surface.addEventListener('pointerleave', () => actions.pointer(null));
    surface.addEventListener('dblclick', () => actions.zoom(FOLLOW));
    surface.addEventListener('keydown', event => this.onKey(event));
  }

  /** A drag or a span is under way. */
  get busy(): boolean {
    return this.drag !== null || this.brush !== null;
  }

  private onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const { zoom, runNs } = this.state();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      return this.actions.zoom(panBy(zoom, runNs, event.deltaX / this.width));
    }
    const factor = ZOOM_STEP ** Math.max(-4, Math.min(4, event.deltaY / 60));
    this.actions.zoom(zoomAt(zoom, runNs, factor, this.place(this.x(event))));
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.left = null;
    const { zoom, runNs, selecting } = this.state();
    this.surface.setPointerCapture(event.pointerId);
    if (event.shiftKey || selecting) this.brush = this.x(event);
    else this.drag = { x: this.x(event), zoom, runNs };
  }

  private onMove(event: PointerEvent): void {
    const x = this.x(event);
    this.actions.pointer(x);
    if (this.brush !== null) {
      if (Math.abs(x - this.brush) >= CLICK_PX) this.actions.span(between(this.time(this.brush), this.time(x)), false);
      return;
    }
    const { drag } = this;
    if (!drag || drag.zoom.spanNs === null) return;
    const part = (drag.x - x) / this.width;
    if (part !== 0) this.actions.zoom(panBy(drag.zoom, drag.runNs, part));
  }

  private onUp(event: PointerEvent): void {
    const { brush } = this;
    this.drag = this.brush = null;
    if (brush === null) return;
    const x = this.x(event);
    const drawn = Math.abs(x - brush) >= CLICK_PX;
    this.actions.span(drawn ? between(this.time(brush), this.time(x)) : null, true);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.surface) return;
    const taken = event.shiftKey && event.key.startsWith('Arrow') ? this.spanKey(event.key) : this.plainKey(event.key);
    if (taken) event.preventDefault();
  }

  /** Left and right move the span's end, up and down the whole of it. */
  private spanKey(key: string): boolean {
    const { span, zoom, runNs, steps } = this.state();
    const window = visibleWindow(zoom, runNs);
    const direction = key === 'ArrowRight' || key === 'ArrowUp' ? 1 : -1;
    const whole = key === 'ArrowUp' || key === 'ArrowDown';
    this.actions.span(span ? nudge(span, window, direction, whole, steps) : firstSpan(window), true);
    return true;
  }

  private plainKey(key: string): boolean {
    const { span, zoom, runNs } = this.state();
    if (key === 'Enter' && span) this.actions.apply();
    else if (key === 'Escape' && span) this.actions.span(null, true);
    else if (KEY_ZOOMS[key]) this.actions.zoom(KEY_ZOOMS[key](zoom, runNs));
    else return false;
    return true;
  }

  /** Pixels from the surface's left edge, whatever lies under the mouse. */
  private x(event: MouseEvent): number {
    // Measured once: while the wheel turns, each measurement would lay out the page anew.
    this.left ??= this.surface.getBoundingClientRect().left;
    return event.clientX - this.left;
  }

  private get width(): number {
    const { left, right } = this.state().plot;
    return Math.max(1, right - left);
  }

  private place(x: number): number {
    return Math.min(1, Math.max(0, (x - this.state().plot.left) / this.width));
  }

  private time(x: number): number {
    const { zoom, runNs } = this.state();
    const { fromNs, toNs } = visibleWindow(zoom, runNs);
    return fromNs + this.place(x) * (toNs - fromNs);
  }
}
