// Asks again when something changed: not more often than an interval, never twice at a time, not while nobody looks.
import type { Timers } from './client';

export interface PollerHost extends Timers {
  /** Milliseconds that only rise. */
  now(): number;
  hidden(): boolean;
}

const BROWSER_HOST: PollerHost = {
  now: () => performance.now(),
  hidden: () => document.hidden,
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: timer => clearTimeout(timer),
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
  ) {}

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

  private plan(): void {
    if (this.running || this.host.hidden()) return;
    if (this.timer !== null) {
      if (!this.urgent) return;
      this.host.clear(this.timer);
    }
    const wait = this.urgent ? 0 : Math.max(0, this.lastStart + this.intervalMs - this.host.now());
    this.timer = this.host.set(() => void this.run(), wait);
  }

  private async run(): Promise<void> {
    this.timer = null;
    if (this.host.hidden()) return;
    this.dirty = false;
    this.urgent = false;
    this.running = true;
    this.lastStart = this.host.now();
    try {
      await this.ask();
    } finally {
      this.running = false;
      if (this.dirty) this.plan();
    }
  }
}
