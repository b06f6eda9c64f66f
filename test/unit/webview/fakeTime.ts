import { PollGroup, type PollerHost } from '../../../webview/explorer/state/poller';

/** Time that passes only when told to. */
export class FakeTime implements PollerHost {
  isHidden = false;
  readonly group = new PollGroup();
  private at = 0;
  private lastId = 0;
  private readonly timers = new Map<number, { due: number; run: () => void }>();

  get waiting(): number {
    return this.timers.size;
  }

  now(): number {
    return this.at;
  }

  hidden(): boolean {
    return this.isHidden;
  }

  set(run: () => void, milliseconds: number): number {
    this.timers.set(++this.lastId, { due: this.at + milliseconds, run });
    return this.lastId;
  }

  clear(timer: number): void {
    this.timers.delete(timer);
  }

  advance(milliseconds: number): void {
    this.at += milliseconds;
    for (const [id, { due, run }] of this.timers) {
      if (due > this.at) continue;
      this.timers.delete(id);
      run();
    }
  }
}
