import { Moments } from './moments';
import type { NativeAddon, NativeTrace } from './native';

/** From one published moment to the next while things change: ten pictures a second are drawn in that time. */
const PICTURE_MS = 80;
/** What there is while a backlog is read is of no moment: that is shown now and then only. */
const BEHIND_MS = 250;
/** For so long the trace waits for viewers that have not requested the last moment yet. */
const PATIENCE_MS = 2_000;

/** Follows one trace: reads what is new in pulses, each a moment that all viewers of the trace show, and notifies them. At rest nothing runs here. */
export class TraceSession {
  readonly native: NativeTrace;
  /** The same trace at earlier times. */
  readonly moments: Moments;
  private readonly listeners = new Set<(revision: number) => void>();
  private timer: NodeJS.Timeout | undefined;
  private following = false;
  /** What comes next is waited for. */
  private reading = false;
  private lastAtMs = -Infinity;
  private pauseMs = PICTURE_MS;
  private readonly late = new Set<unknown>();
  private closed = false;

  /**
   * Opens a trace directory or a saved trace. Throws one sentence.
   * @param release called once it is closed, or could not be opened
   */
  constructor(
    addon: Pick<NativeAddon, 'open'>,
    readonly path: string,
    private readonly release: () => void = () => undefined,
  ) {
    try {
      this.native = addon.open(path);
    } catch (error) {
      release();
      throw error;
    }
    this.moments = new Moments(this.native, untilNs => addon.open(path, { untilNs }));
  }

  /** From here on each listener is notified of what is new; for a while after that the trace stands still. */
  follow(): void {
    this.following = !this.closed;
    this.readNext();
  }

  pause(): void {
    this.following = false;
    clearTimeout(this.timer);
  }

  onChange(listener: (revision: number) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** A viewer of the trace got this moment and will request its figures, or has done so: the next one waits for that. */
  setLate(viewer: unknown, late: boolean): void {
    if (late) this.late.add(viewer);
    else if (this.late.delete(viewer)) this.readNext();
  }

  /** Reads what is new, unless the last news is too young. */
  private readNext(): void {
    if (!this.following || this.reading) return;
    clearTimeout(this.timer);
    const waitMs = this.lastAtMs + (this.late.size > 0 ? PATIENCE_MS : this.pauseMs) - performance.now();
    if (waitMs > 0) {
      this.timer = setTimeout(() => this.readNext(), Math.ceil(waitMs));
      return;
    }
    this.late.clear();
    this.reading = true;
    this.native.next(caughtUp => this.found(caughtUp));
  }

  private found(caughtUp: boolean): void {
    this.reading = false;
    if (!this.following) return;
    this.lastAtMs = performance.now();
    this.pauseMs = caughtUp ? PICTURE_MS : BEHIND_MS;
    const revision = this.native.revision();
    for (const listener of this.listeners) listener(revision);
    this.readNext();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.pause();
    this.listeners.clear();
    this.moments.close();
    this.native.close();
    this.release();
  }
}
