// Verdicts of the trace that is shown: judged on request, in small parts, not more often than they are worth.
import { servesMs } from '../analysis/findings/firstLeaks';
import { judgeInParts } from '../analysis/findings/judgeTrace';
import { createLineReader } from '../native/lineReader';
import type { TraceInfo, TraceSource } from '../protocol/trace';
import type { Verdicts } from '../protocol/verdicts';

/** Longest stretch in which nothing is answered, and least time from one judging to the next. */
const PART_MS = 3;
const LEAST_PAUSE_MS = 200;

export class Judge {
  private verdicts: Verdicts | null = null;
  private key = '';
  private running: Promise<Verdicts> | null = null;
  private notBefore = 0;
  private closed = false;
  private readonly begun = performance.now();

  constructor(
    private readonly source: TraceSource,
    private readonly onJudged: () => void,
  ) {}

  /** The verdicts of this moment or of a moment ago; `stale`: something happened since. Rejects when the trace is closed. */
  async verdictsNow(): Promise<{ verdicts: Verdicts; stale: boolean }> {
    const known = this.verdicts;
    if (known !== null && this.key === keyOf(this.source.info())) return { verdicts: known, stale: false };
    if (known !== null && this.source.info().live && performance.now() < this.notBefore)
      return { verdicts: known, stale: true };
    const verdicts = await (this.running ??= this.judge().finally(() => (this.running = null)));
    // What came while it was judged has to be judged too, also where nothing comes after it.
    return { verdicts, stale: this.key !== keyOf(this.source.info()) };
  }

  /** What was judged last; null: nothing yet. */
  get latest(): Verdicts | null {
    return this.verdicts;
  }

  /** When judging anew is worth it, in milliseconds from now. */
  get dueInMs(): number {
    return Math.max(0, this.notBefore - performance.now());
  }

  close(): void {
    this.closed = true;
  }

  private async judge(): Promise<Verdicts> {
    const key = keyOf(this.source.info());
    // Files change while a program runs: each judging reads them anew.
    const parts = judgeInParts(this.source, createLineReader());
    let busyMs = 0;
    for (;;) {
      if (this.closed) throw new Error('The trace was closed.');
      const begun = performance.now();
      let part = parts.next();
      while (!part.done && performance.now() - begun < PART_MS) part = parts.next();
      busyMs += performance.now() - begun;
      if (part.done) {
        [this.verdicts, this.key] = [part.value, key];
        const now = performance.now();
        this.notBefore = now + Math.max(LEAST_PAUSE_MS, servesMs(busyMs, now - this.begun));
        this.onJudged();
        return part.value;
      }
      await new Promise(done => setImmediate(done));
    }
  }
}

/** Verdicts are about the ends of steps, and how processes ended, which is known after their last events: nothing else changes them. */
function keyOf(info: TraceInfo): string {
  const steps = info.steps.map(({ process, count, source, touched }) => [process, count, source, touched]);
  const ends = info.processes.map(({ ended, exitCode }) => [ended, exitCode]);
  return JSON.stringify([steps, info.answers.length, info.outOfMemoryCount, info.lost.events, info.live, ends]);
}
