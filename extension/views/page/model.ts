import type * as vscode from 'vscode';
import type { SourceLines } from '../../editor/sourceLines';
import type { SessionView } from '../../protocol/requests/messages';
import type { PageMoment } from '../../protocol/requests/moment';
import type { Button } from '../../protocol/requests/sessionRequests';
import type { OtherTrace, TraceChange } from '../../protocol/requests/engineRequests';
import type { OpenTrace } from '../session/openTrace';

/** What a page shows, and what its buttons do. */
export interface PageModel {
  readonly onDidChange: vscode.Event<TraceChange>;
  /** Null: there is nothing to show. */
  readonly shown: OpenTrace | null;
  view(): SessionView;
  setRecording(on: boolean): Promise<void>;
  press(button: Button): void;
  showSession(id: number): void;
  closeSession(id: number): void;
  /** A page was notified of figures and has not requested them yet, or requests them now. */
  setLate(page: number, late: boolean): void;
  /** A page has the figures that it requested. */
  answered(page: number): void;
  /** A page shows this moment of the trace with that number. */
  setMoment(moment: PageMoment & { id: number }): void;
  /** Opens one of the recent traces. */
  openRecent(file: string): void;
  /** Traces of the window that can be compared, the shown one perhaps among them. */
  traces(): OtherTrace[];
  /** Lets the user choose a saved trace to compare with; its number, or null. Rejects with a sentence. */
  openOther(): Promise<number | null>;
}

/** What all pages of the window share. */
export interface PageTools {
  /** Folder of the pages' files. */
  readonly dist: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
  readonly lines: SourceLines;
}
