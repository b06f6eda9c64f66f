import { Moments } from './moments';
import type { NativeAddon, NativeSession } from './native';

/** People read figures no faster: so long a trace stands still once it changed. */
const STILL_MS = 250;
/** For so long the trace waits for those who have not drawn the last moment yet. */
const PATIENCE_MS = 2_000;
const BACKLOG_POLLS = 8;

/** Follows one trace: reads what is new in pulses, each a moment that all who show the trace show, and tells of it. */
export class TraceSession {
  readonly native: NativeSession;
  /** The same trace at earlier times. */
  readonly moments: Moments;
  private readonly listeners = new Set<(revision: number) => void>();
  private timer: NodeJS.Timeout | undefined;
  private seen = -1;
  private seenAtMs = -Infinity;
  /** How often in a row there was more to read than could be waited for. */
  private behind = 0;
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
    this.moments = new Moments(untilNs => addon.open(path, { untilNs }));
  }

  /** Looks for news each `intervalMs`, and tells each listener; for a while after that the trace stands still. */
  follow(intervalMs: number): void {
    if (this.closed) return;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.poll(), intervalMs);
  }

  pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  onChange(listener: (revision: number) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Reads what is new, unless the last news is too young. */
  poll(): void {
    const stillMs = this.late.size > 0 ? PATIENCE_MS : STILL_MS;
    if (this.closed || performance.now() < this.seenAtMs + stillMs) return;
    this.late.clear();
    // What there is while a backlog is read is of no moment: that is shown now and then only.
    this.behind = this.native.advance() ? 0 : this.behind + 1;
    if (this.behind % BACKLOG_POLLS !== 0) return;
    const revision = this.native.revision();
    if (revision === this.seen) return;
    this.seen = revision;
    this.seenAtMs = performance.now();
    for (const listener of this.listeners) listener(revision);
  }

  /** Somebody who shows the trace was told of this moment and will ask for it, or has asked: the next one waits for that. */
  awaits(who: unknown, late: boolean): void {
    if (late) this.late.add(who);
    else this.late.delete(who);
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
