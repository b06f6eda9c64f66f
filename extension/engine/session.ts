import { Moments } from './moments';
import type { NativeAddon, NativeSession } from './native';

/** Follows one trace: polls the model's revision and tells when something changed. */
export class TraceSession {
  readonly native: NativeSession;
  /** The same trace at earlier times. */
  readonly moments: Moments;
  private readonly listeners = new Set<(revision: number) => void>();
  private timer: NodeJS.Timeout | undefined;
  private seen = -1;
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

  /** Tells each listener of a new revision, at most once in `intervalMs`. */
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

  /** Reads the revision now, beside the timer. */
  poll(): void {
    if (this.closed) return;
    const revision = this.native.revision();
    if (revision === this.seen) return;
    this.seen = revision;
    for (const listener of this.listeners) listener(revision);
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
