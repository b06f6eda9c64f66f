// Loads again when something changed: not more often than an interval, never twice at a time, not while the page is hidden.
import { BROWSER_TIMERS, type Timers } from '../common/timers';

/** Sends questions together: those that travel together are answered of one moment. */
export class PollGroup {
  /** The trace grows. */
  moving = false;
  private readonly pollers = new Set<Poller>();

  add(poller: Poller): void {
    this.pollers.add(poller);
  }
  /** The page came into view again. */
  wake(): void {
    for (const poller of this.pollers) poller.wake();
  }
  /** One poller loads: all that may load do so now; while figures change, all pollers of figures, which are shown side by side. */
  pollTogether(figures: boolean): void {
    for (const poller of this.pollers) poller.join(figures && this.moving);
  }
}

export interface PollerHost extends Timers {
  readonly group: PollGroup;
  /** Milliseconds that only rise. */
  now(): number;
  hidden(): boolean;
}

/** For figures: the engine reports new moments less often (`TraceSession`), so that all of them load at each. */
export const FIGURES_MS = 50;
/** Slow pollers wait so long for others to load. */
const PATIENCE_MS = 120;
const SELDOM_MS = 400;
/** Pollers that are due so soon after another load with it: what they show is then of one moment. */
const SLACK_MS = 30;

export const POLLERS = new PollGroup();
const BROWSER_HOST: PollerHost = {
  group: POLLERS,
  now: () => performance.now(),
  hidden: () => document.hidden,
  ...BROWSER_TIMERS,
};

/** Loads only while the element is not hidden; the code that shows it invalidates. */
export function whileShown(element: () => HTMLElement): PollerHost {
  return { ...BROWSER_HOST, hidden: () => document.hidden || element().hasAttribute('hidden') };
}

export class Poller {
  private dirty = false;
  private running = false;
  private urgent = false;
  private timer: number | null = null;
  private lastStart = -Infinity;

  /** @param load one round; its rejections are its own to report */
  constructor(
    private readonly load: () => Promise<void>,
    private readonly intervalMs = 100,
    private readonly host: PollerHost = BROWSER_HOST,
  ) {
    host.group.add(this);
  }

  /** Something changed. `urgent`: by the user, so the interval is not waited for. */
  invalidate(urgent = false): void {
    this.dirty = true;
    this.urgent ||= urgent;
    this.plan();
  }

  /** The page became visible. */
  wake(): void {
    if (this.dirty) this.plan();
  }

  /** Another poller loads now: so does this one if its interval is about over, or it loads figures and they change. */
  join(figuresChange: boolean): void {
    if (this.running) return;
    const figures = figuresChange && this.intervalMs === FIGURES_MS;
    if (figures || (this.timer !== null && this.dueIn() <= SLACK_MS)) void this.run();
  }

  private dueIn(): number {
    return this.lastStart + this.intervalMs - this.host.now();
  }

  private plan(): void {
    if (this.running || this.host.hidden()) return;
    if (this.timer !== null) {
      if (!this.urgent) return;
      this.host.clear(this.timer);
    }
    const wait = this.urgent ? 0 : Math.max(0, this.dueIn());
    const patience = wait > 0 && this.intervalMs >= SELDOM_MS ? PATIENCE_MS : 0;
    this.timer = this.host.set(() => void this.run(), wait + patience);
  }

  private async run(): Promise<void> {
    if (this.timer !== null) this.host.clear(this.timer);
    this.timer = null;
    if (this.host.hidden()) return;
    // What the user requests comes in between, and holds up no round of the others.
    if (!this.urgent) this.lastStart = this.host.now();
    this.dirty = false;
    this.urgent = false;
    this.running = true;
    try {
      const round = this.load();
      this.host.group.pollTogether(this.intervalMs === FIGURES_MS);
      await round;
    } finally {
      this.running = false;
      if (this.dirty) this.plan();
    }
  }
}
