// What the page's buttons do.
import { flag, index, nothing, object, text, type Checks } from './checks';

export interface SessionRequests {
  /** Puts the cursor on the line. */
  openLine(at: { file: string; line: number }): void;
  /** Starts a trace of the active Python file, as the palette does. */
  start(): void;
  /** Traces the sample that comes with the extension. */
  trySample(): void;
  /** Lets the user choose the Python that runs traced files. */
  chooseInterpreter(): void;
  /** Shows what this machine can record. */
  doctor(): void;
  /** Ends the traced program (as Ctrl+C in its terminal); of an attached one only the tracing. */
  stop(): void;
  setRecording(to: { on: boolean }): void;
  save(): void;
  /** Gives this moment a name, which the host asks for. */
  mark(): void;
  /** Shows another one of the sessions. */
  showSession(which: { id: number }): void;
  /** Takes a session that ended from the list. */
  closeSession(which: { id: number }): void;
  /** Opens the page in an editor, beside the code. */
  openWide(): void;
}

export const sessionChecks: Checks<SessionRequests> = {
  openLine: object({ file: text(), line: index }),
  start: nothing,
  trySample: nothing,
  chooseInterpreter: nothing,
  doctor: nothing,
  stop: nothing,
  setRecording: object({ on: flag }),
  save: nothing,
  mark: nothing,
  showSession: object({ id: index }),
  closeSession: object({ id: index }),
  openWide: nothing,
};
