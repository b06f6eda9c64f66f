import { listedLayer } from '../analysis/snapshot';
import { verdictsOf } from '../analysis/verdictCache';
import type { Layer } from '../protocol/trace';
import type { LineVerdicts, ShownTrace } from './lineBytes';

/** Verdicts need not be newer than this; they cost more than a table of lines. */
const FRESH_MS = 2_000;

/** What grows, by line, of the trace that is shown. */
export class ShownLineVerdicts implements LineVerdicts {
  private readAtMs = -Infinity;
  private source: unknown = null;
  private lines = new Map<string, number>();

  constructor(private readonly shown: ShownTrace) {}

  layer(): Layer {
    const info = this.shown.session?.native.info();
    return info === undefined ? 'tensor' : listedLayer(info.totals);
  }

  bytesPerStep(file: string, line: number): number {
    this.read();
    return this.lines.get(keyOf(file, line)) ?? 0;
  }

  private read(): void {
    const source = this.shown.session?.native;
    const now = performance.now();
    if (source === this.source && now - this.readAtMs < FRESH_MS) return;
    this.source = source;
    this.readAtMs = now;
    this.lines = new Map();
    if (source === undefined) return;
    for (const { verdict, places } of verdictsOf(source).findings) {
      if (verdict !== 'leak') continue;
      for (const { file, line, bytesPerStep } of places) this.lines.set(keyOf(file, line), bytesPerStep);
    }
  }
}

const keyOf = (file: string, line: number): string => `${file}:${line}`;
