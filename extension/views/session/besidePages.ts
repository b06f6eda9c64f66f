import type { TraceChange } from '../../protocol/requests/engineRequests';

/** For so long the window waits for a page that does not request the figures that it was notified of. */
const PATIENCE_MS = 2_000;

/** Changes for what stands beside the pages (status bar, editors, Problems): once the pages request the figures, so that all show one moment. */
export class BesidePages {
  /** Pages that were notified of figures that they do not have yet. */
  private readonly late = new Set<number>();
  private waiting: TraceChange | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly fire: (change: TraceChange) => void) {}

  setLate(page: number, late: boolean): void {
    if (late) this.late.add(page);
    else if (this.late.delete(page) && this.late.size === 0) this.flush();
  }

  /** To be called after the pages were notified. */
  changed(change: TraceChange): void {
    if (this.waiting !== 'state') this.waiting = change;
    if (this.late.size === 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), PATIENCE_MS);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.late.clear();
    const { waiting } = this;
    this.waiting = null;
    if (waiting !== null) this.fire(waiting);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
