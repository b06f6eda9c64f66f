import type * as vscode from 'vscode';
import type { SourceFolders } from '../protocol/cwd';
import type { ShownMoment } from '../protocol/requests/moment';
import type { EngineMethod, EngineParams, EngineResult, TraceFacts } from '../protocol/requests/engineRequests';

/** A trace of the window, and what is found in it. */
export interface WindowTrace {
  readonly id: number;
  readonly title: string;
  readonly folders: SourceFolders;
  /** What is known of it; null: no trace is open. */
  readonly facts: TraceFacts | null;
  readonly shownMoment: ShownMoment;
  /** The exception that ended the program, and its line; null: none is known. */
  readonly raised: { sentence: string; file: string; line: number } | null;
  request<M extends EngineMethod>(method: M, of: Omit<EngineParams<M>, 'trace'>): Promise<EngineResult<M>>;
}

export interface WindowTraces {
  /** Once the pages show what changed. */
  readonly onDidChangeBeside: vscode.Event<unknown>;
  /** The latest is the last. */
  readonly all: readonly WindowTrace[];
  readonly shown: WindowTrace | null;
}
