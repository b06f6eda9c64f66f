// Timers, which a test can replace.

export interface Timers {
  set(run: () => void, milliseconds: number): number;
  clear(timer: number): void;
}

export const BROWSER_TIMERS: Timers = {
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: timer => clearTimeout(timer),
};
