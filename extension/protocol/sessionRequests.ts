// What the page's buttons do.
import { flag, index, nothing, object, text, type Checks } from './checks';

export interface SessionRequests {
  /** Puts the cursor on the line. */
  openLine(at: { file: string; line: number }): void;
  /** Starts a trace of the active Python file, as the palette does. */
  start(): void;
  /** Ends the traced program (as Ctrl+C in its terminal); of an attached one only the tracing. */
  stop(): void;
  setRecording(to: { on: boolean }): void;
  save(): void;
}

export const sessionChecks: Checks<SessionRequests> = {
  openLine: params => {
    const at = object(params, 'openLine');
    return { file: text(at, 'file'), line: index(at, 'line') };
  },
  start: nothing,
  stop: nothing,
  setRecording: params => ({ on: flag(object(params, 'setRecording'), 'on') }),
  save: nothing,
};
