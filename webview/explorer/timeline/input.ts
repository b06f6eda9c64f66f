// Wheel, mouse and keys on the chart, as the actions that they mean.
import { between, type KeyMove, type MomentMove, type Span } from './span';
import { FOLLOW, panBy, visibleWindow, zoomAt, type Zoom } from '../state/zoom';

/** What the input starts from. */
export interface InputState {
  zoom: Zoom;
  runNs: number;
  span: Span | null;
  /** The plot, in pixels of the surface. */
  plot: { left: number; right: number };
}
export interface InputActions {
  zoom(zoom: Zoom): void;
  /** `done`: the mouse let go of it. */
  span(span: Span, done: boolean): void;
  /** Left and right move the span's end, up and down the whole of it. */
  nudge(move: KeyMove, whole: boolean): void;
  pointer(x: number | null): void;
  /** A click at a time (ns) of the run. */
  moment(timeNs: number): void;
  /** To the moment before or after the shown one; to the first or the last one. */
  step(to: MomentMove): void;
  /** Shows what the span selects first of all. */
  apply(): void;
  /** Back to now, without a span; false: it is shown already. */
  back(): boolean;
}

const ZOOM_STEP = 1.25;
const CLICK_PX = 3;

/** Keys zoom around the present while it is followed, else around the middle. */
const zoomBy = (factor: number) => (zoom: Zoom, runNs: number) =>
  zoomAt(zoom, runNs, factor, zoom.endNs === null ? 1 : 0.5);
const KEY_ZOOMS: Readonly<Record<string, (zoom: Zoom, runNs: number) => Zoom>> = {
  '+': zoomBy(1 / ZOOM_STEP),
  '=': zoomBy(1 / ZOOM_STEP),
  '-': zoomBy(ZOOM_STEP),
  '0': () => FOLLOW,
};
const KEY_MOVES: Readonly<Record<string, KeyMove>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: 'page-back',
  PageDown: 'page-on',
};
const MOMENT_MOVES: Readonly<Record<string, MomentMove>> = { ...KEY_MOVES, Home: 'first', End: 'last' };
/** With Shift: these move the whole span. */
const SPAN_MOVES: Readonly<Record<string, KeyMove>> = { ArrowUp: 1, ArrowDown: -1 };

export class TimelineInput {
  /** Where a click, or a span that is being drawn, begins, in pixels. */
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
    surface.addEventListener('pointercancel', () => (this.brush = null));
    surface.addEventListener('pointerenter', () => (this.left = null));
    surface.addEventListener('pointerleave', () => actions.pointer(null));
    surface.addEventListener('keydown', event => this.onKey(event));
  }

  /** A span is being drawn. */
  get busy(): boolean {
    return this.brush !== null;
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
    this.surface.setPointerCapture(event.pointerId);
    this.brush = this.x(event);
  }

  private onMove(event: PointerEvent): void {
    const x = this.x(event);
    this.actions.pointer(x);
    if (this.brush !== null && Math.abs(x - this.brush) >= CLICK_PX)
      this.actions.span(between(this.time(this.brush), this.time(x)), false);
  }

  private onUp(event: PointerEvent): void {
    const { brush } = this;
    this.brush = null;
    if (brush === null) return;
    const x = this.x(event);
    if (Math.abs(x - brush) < CLICK_PX) this.actions.moment(this.time(brush));
    else this.actions.span(between(this.time(brush), this.time(x)), true);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target !== this.surface && event.key !== 'Escape') return;
    const taken = (event.shiftKey && this.spanKey(event.key)) || this.plainKey(event.key);
    if (taken) event.preventDefault();
  }

  private spanKey(key: string): boolean {
    const move = SPAN_MOVES[key] ?? KEY_MOVES[key];
    if (move !== undefined) this.actions.nudge(move, key in SPAN_MOVES);
    return move !== undefined;
  }

  private plainKey(key: string): boolean {
    const { span, zoom, runNs } = this.state();
    if (key === 'Enter' && span) this.actions.apply();
    else if (key === 'Escape') return this.actions.back() || this.unzoom();
    else if (MOMENT_MOVES[key]) this.actions.step(MOMENT_MOVES[key]);
    else if (KEY_ZOOMS[key]) this.actions.zoom(KEY_ZOOMS[key](zoom, runNs));
    else return false;
    return true;
  }

  /** False: the whole run is seen already. */
  private unzoom(): boolean {
    if (this.state().zoom.spanNs === null) return false;
    this.actions.zoom(FOLLOW);
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
