// How long the run is, between two words from the host.
import type { SessionView } from '../../../extension/protocol/requests/messages';

export class RunClock {
  private baseNs = 0;
  private baseAt = 0;
  running = false;
  private start = 0;

  /** @param now milliseconds that only rise */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The run continues by itself while the program runs; it never goes back within one trace. */
  update({ phase, info }: SessionView): void {
    const runs = phase === 'running' && info !== null && info.live && info.durationNs > 0;
    const another = info !== null && info.startRealtimeMs !== this.start;
    const known = info?.durationNs ?? 0;
    this.baseNs = runs && this.running && !another ? Math.max(known, this.elapsedNs()) : known;
    this.baseAt = this.now();
    this.running = runs;
    this.start = info?.startRealtimeMs ?? 0;
  }

  elapsedNs(): number {
    return this.running ? this.baseNs + (this.now() - this.baseAt) * 1e6 : this.baseNs;
  }
}
