import { listedLayer, type Layer } from '../protocol/trace';
import type { WindowTraces } from './windowTraces';

/** What grows, by line, of the trace that is shown. */
export class ShownLineVerdicts {
  private judged: unknown = null;
  private lines = new Map<string, number>();

  constructor(private readonly traces: WindowTraces) {}

  layer(): Layer {
    const info = this.traces.shown?.trace?.native.info();
    return info === undefined ? 'tensor' : listedLayer(info.totals);
  }

  /** Another one once something else is known. */
  version(): unknown {
    return this.traces.shown?.verdicts?.latest ?? null;
  }

  bytesPerStep(file: string, line: number): number {
    this.read();
    return this.lines.get(keyOf(file, line)) ?? 0;
  }

  private read(): void {
    const latest = this.traces.shown?.verdicts?.latest ?? null;
    if (latest === this.judged) return;
    this.judged = latest;
    this.lines = new Map();
    for (const { verdict, places } of latest?.findings ?? []) {
      if (verdict !== 'leak') continue;
      for (const { file, line, bytesPerStep } of places) this.lines.set(keyOf(file, line), bytesPerStep);
    }
  }
}

const keyOf = (file: string, line: number): string => `${file}:${line}`;
