import type * as vscode from 'vscode';
import type { TraceSession } from '../engine/session';
import type { EndMoment } from '../protocol/requests/moment';
import { listedLayer, type Layer } from '../protocol/trace';
import type { Finding } from '../protocol/verdicts';

/** The trace that is shown. */
export interface ShownTrace {
  readonly onDidChange: vscode.Event<unknown>;
  readonly session: TraceSession | null;
  readonly cwd: string;
  /** What is shown of a program that freed everything, or nearly, when it ended; null: this moment. */
  readonly ending: EndMoment | null;
  /** Colours of the lines that the timeline stacks, by their names. */
  readonly lineHues: ReadonlyMap<string, number>;
  /** What was judged last. */
  readonly verdicts: { readonly latest: { findings: readonly Finding[] } | null } | null;
}

/** What grows, by line, of the trace that is shown. */
export class ShownLineVerdicts {
  private judged: unknown = null;
  private lines = new Map<string, number>();

  constructor(private readonly shown: ShownTrace) {}

  layer(): Layer {
    const info = this.shown.session?.native.info();
    return info === undefined ? 'tensor' : listedLayer(info.totals);
  }

  /** Another one once something else is known. */
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
