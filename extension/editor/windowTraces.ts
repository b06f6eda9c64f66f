import type * as vscode from 'vscode';
import type { TraceSession } from '../engine/session';
import type { SourceFolders } from '../protocol/cwd';
import type { EndMoment } from '../protocol/requests/moment';
import type { Finding } from '../protocol/verdicts';

/** A trace of the window, and what is found in it. */
export interface WindowTrace {
  readonly id: number;
  readonly title: string;
  readonly folders: SourceFolders;
  readonly trace: TraceSession | null;
  /** What is shown of a program that freed everything, or nearly, when it ended; null: this moment. */
  readonly ending: EndMoment | null;
  /** Colours of the lines that the timeline stacks, by their names. */
  readonly lineHues: ReadonlyMap<string, number>;
  readonly verdicts: {
    /** What was judged last. */
    readonly latest: { findings: readonly Finding[] } | null;
    verdictsNow(): Promise<{ verdicts: { findings: readonly Finding[] }; stale: boolean }>;
  } | null;
}

export interface WindowTraces {
  readonly onDidChange: vscode.Event<unknown>;
  /** The latest is the last. */
  readonly all: readonly WindowTrace[];
  readonly shown: WindowTrace | null;
}
