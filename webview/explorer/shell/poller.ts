// Asks again when something changed: not more often than an interval, never twice at a time, not while nobody looks.
import { BROWSER_TIMERS, type Timers } from './client';

/** Brings questions together: those that travel together are answered of one moment. */
export class Beat {
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
  /** Somebody asks: whoever may ask too asks now; while figures change, all of them with the first, for they stand beside each other. */
  strike(figures: boolean): void {
    for (const poller of this.pollers) poller.join(figures && this.moving);
  }
}

export interface PollerHost extends Timers {
  readonly beat: Beat;
  /** Milliseconds that only rise. */
  now(): number;
  hidden(): boolean;
}

/** For figures: the engine tells of a new moment less often (`TraceSession`), so that all of them ask at each. */
export const FIGURES_MS = 50;
/** Those who ask seldom wait so long for others to ask. */
const PATIENCE_MS = 120;
const SELDOM_MS = 400;
/** Those who would ask so soon after another ask with it: what they show is then of one moment. */
const SLACK_MS = 30;

export const BEAT = new Beat();
const BROWSER_HOST: PollerHost = {
  beat: BEAT,
  now: () => performance.now(),
  hidden: () => document.hidden,
  ...BROWSER_TIMERS,
};

/** Asks only while the element is not hidden; whoever shows it invalidates. */
export function whileShown(element: () => HTMLElement): PollerHost {
  return { ...BROWSER_HOST, hidden: () => document.hidden || element().hasAttribute('hidden') };
}

export class Poller {
  private dirty = false;
  private running = false;
  private urgent = false;
  private timer: number | null = null;
  private lastStart = -Infinity;

  /** @param ask one round; its rejections are its own to report */
  constructor(
    private readonly ask: () => Promise<void>,
    private readonly intervalMs = 100,
    private readonly host: PollerHost = BROWSER_HOST,
  ) {
    host.beat.add(this);
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

  /** Another poller asks now: so does this one if its interval is about over, or it asks for figures and they change. */
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
    // What the user asks for comes in between, and holds up no round of the others.
    if (!this.urgent) this.lastStart = this.host.now();
    this.dirty = false;
    this.urgent = false;
    this.running = true;
    try {
      const asked = this.ask();
      this.host.beat.strike(this.intervalMs === FIGURES_MS);
      await asked;
    } finally {
      this.running = false;
      if (this.dirty) this.plan();
    }
  }
}
