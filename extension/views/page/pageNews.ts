// What a page is told of its own accord, and when.
import type { SessionView, ToPage } from '../../protocol/requests/messages';

/** The page asks for what is new at most so often. */
const EVENTS_MS = 100;
/** People read figures no faster. */
const FIGURES_MS = 250;
/** What may wait so long for a question of the page travels with the answer. */
const GRACE_MS = 20;

export interface NewsSource {
  /** Rises with the events; cheap. */
  revision(): number;
  view(): SessionView;
}

export interface NewsClock {
  /** Milliseconds that only rise. */
  now(): number;
  set(run: () => void, milliseconds: number): NodeJS.Timeout;
  clear(timer: NodeJS.Timeout | undefined): void;
}

const CLOCK: NewsClock = {
  now: () => performance.now(),
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: timer => clearTimeout(timer),
};

export class PageNews {
  private revision = -1;
  private toldAtMs = -Infinity;
  /** The view as it was told last, without its figures. */
  private state = '';
  private viewAtMs = -Infinity;
  /** Something came since the view was told. */
  private stale = false;
  private timer: NodeJS.Timeout | undefined;
  private timerAtMs = Infinity;

  constructor(
    private readonly source: NewsSource,
    private readonly post: (message: ToPage) => void,
    private readonly clock: NewsClock = CLOCK,
  ) {}

  /** The page knows nothing yet. */
  begin(): void {
    this.state = '';
    this.revision = -1;
    this.changed();
  }

  /** Perhaps more than figures changed: that is told at once. */
  changed(): void {
    const view = this.source.view();
    if (stateOf(view) !== this.state) return this.sendView(view);
    this.events();
  }

  /** Events came. */
  events(): void {
    this.stale = true;
    const [dueMs, nowMs] = [this.dueMs(), this.clock.now()];
    if (dueMs <= nowMs) return this.send();
    if (this.timerAtMs <= dueMs) return;
    this.clearTimer();
    this.timerAtMs = dueMs;
    this.timer = this.clock.set(() => {
      this.timerAtMs = Infinity;
      this.events();
    }, dueMs - nowMs);
  }

  /** The page asks: what is new goes with the answer. */
  asked(): void {
    if (this.stale) this.send();
  }

  stop(): void {
    this.clearTimer();
  }

  private clearTimer(): void {
    this.clock.clear(this.timer);
    this.timerAtMs = Infinity;
  }

  /** When something has to be told, whether the page asks or not. */
  private dueMs(): number {
    const eventsMs = this.source.revision() === this.revision ? Infinity : this.toldAtMs + EVENTS_MS;
    return Math.min(eventsMs, this.viewAtMs + FIGURES_MS + EVENTS_MS) + GRACE_MS;
  }

  private send(): void {
    const nowMs = this.clock.now();
    if (nowMs >= this.viewAtMs + FIGURES_MS) return this.sendView(this.source.view());
    const revision = this.source.revision();
    if (revision !== this.revision) {
      this.post({ type: 'changed', revision });
      this.revision = revision;
      this.toldAtMs = nowMs;
    }
    this.events();
  }

  private sendView(view: SessionView): void {
    this.clearTimer();
    this.post({ type: 'session', session: view });
    this.state = stateOf(view);
    this.revision = view.info?.revision ?? -1;
    this.toldAtMs = this.viewAtMs = this.clock.now();
    this.stale = false;
  }
}

function stateOf(view: SessionView): string {
  return JSON.stringify({ ...view, info: view.info?.processes.length });
}
