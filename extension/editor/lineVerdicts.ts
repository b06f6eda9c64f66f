import { listedLayer, type Layer } from '../protocol/trace';
import type { Finding } from '../protocol/verdicts';
import type { LineVerdicts, ShownTrace } from './lineBytes';

/** The trace that is shown, with what was judged of it last. */
export interface JudgedTrace extends ShownTrace {
  readonly verdicts: { readonly latest: { findings: readonly Finding[] } | null } | null;
}

/** What grows, by line, of the trace that is shown. */
export class ShownLineVerdicts implements LineVerdicts {
  private judged: unknown = null;
  private lines = new Map<string, number>();

  constructor(private readonly shown: JudgedTrace) {}

  layer(): Layer {
    const info = this.shown.session?.native.info();
    return info === undefined ? 'tensor' : listedLayer(info.totals);
  }

  version(): unknown {
    return this.shown.verdicts?.latest ?? null;
  }

  bytesPerStep(file: string, line: number): number {
    this.read();
    return this.lines.get(keyOf(file, line)) ?? 0;
  }

  private read(): void {
    const latest = this.shown.verdicts?.latest ?? null;
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
