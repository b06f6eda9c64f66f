import type { MomentReading } from '../protocol/requests/timelineRequests';
import type { NativeTrace } from './native';

interface Opened {
  session: NativeTrace;
  settled: Promise<NativeTrace>;
  done: boolean;
  error: Error | null;
}

/** A trace has so many moments open at a time: each is a whole model in memory. */
const MOST = 2;

/** The same trace as it was at earlier times: each is read anew up to its time, and kept while it is among the last used. */
export class Moments {
  /** By their time; the last used one last. */
  private readonly opened = new Map<number, Opened>();

  /**
   * @param whole all of it that is read
   * @param open opens the trace up to a time (ns), without reading on afterwards; throws one sentence
   */
  constructor(
    private readonly whole: NativeTrace,
    private readonly open: (untilNs: number) => NativeTrace,
    private readonly most = MOST,
  ) {}

  /** The trace at a time, read to its end. Rejects with one sentence, also after `cancel` or `close`. */
  at(untilNs: number): Promise<NativeTrace> {
    if (this.opened.get(untilNs)?.error) this.drop(untilNs);
    return this.openRecent(untilNs).settled;
  }

  /** Begins to read where that was not begun; returns how far it is. Throws what stopped it, once. */
  reading(untilNs: number): MomentReading {
    const { done, session, error } = this.openRecent(untilNs);
    if (!error) return { done, readNs: done ? untilNs : session.info().durationNs, untilNs };
    this.drop(untilNs);
    throw error;
  }

  /** Gives up what is not read to its end. */
  cancel(): void {
    for (const [untilNs, { done }] of this.opened) if (!done) this.drop(untilNs);
  }

  close(): void {
    for (const untilNs of [...this.opened.keys()]) this.drop(untilNs);
  }

  private openRecent(untilNs: number): Opened {
    const known = this.opened.get(untilNs);
    const one = known ?? this.begin(untilNs);
    this.opened.delete(untilNs);
    this.opened.set(untilNs, one);
    for (const oldest of this.opened.keys()) if (this.opened.size > this.most) this.drop(oldest);
    return one;
  }

  private begin(untilNs: number): Opened {
    const session = this.open(untilNs);
    const one: Opened = { session, settled: session.settle(this.whole).then(() => session), done: false, error: null };
    one.settled.then(
      () => (one.done = true),
      (error: unknown) => (one.error = error instanceof Error ? error : new Error(String(error))),
    );
    return one;
  }

  private drop(untilNs: number): void {
    this.opened.get(untilNs)?.session.close();
    this.opened.delete(untilNs);
  }
}
