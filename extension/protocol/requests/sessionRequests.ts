// What the page's buttons do.
import { flag, index, nothing, object, optional, text, time, type Checks } from './fieldChecks';
import { checkMoment, type PageMoment } from './moment';

/** Buttons that do what a command does. `stop`: of an attached program it ends only the tracing. */
const BUTTONS = [
  'start',
  'traceAgain',
  'changeArguments',
  'startChosen',
  'trySample',
  'chooseInterpreter',
  'doctor',
  'openTrace',
  'manageTrust',
  'openReport',
  'stop',
  'save',
  'savePage',
  'mark',
  'openWide',
] as const;
export type Button = (typeof BUTTONS)[number];

export interface SessionRequests extends Record<Button, () => void> {
  /** Puts the cursor on the line. `preserveFocus`: the keyboard stays in the page. */
  openLine(at: { file: string; line: number; preserveFocus?: boolean }): void;
  /** Percent of its width that the page keeps where an editor opens beside it; 0: there is no room for one. */
  setRoom(to: { percent: number }): void;
  setRecording(to: { on: boolean }): void;
  /** The page shows this moment of the trace from now on: all that shows the trace does. */
  setMoment(to: PageMoment & { id: number }): void;
  /** Shows another one of the sessions. */
  showSession(which: { id: number }): void;
  /** Takes a session that ended from the list. */
  closeSession(which: { id: number }): void;
  /** Opens one of the recent traces. */
  openRecent(which: { file: string }): void;
}

/** The same kind of thing for each button. */
export function forButtons<T>(make: (button: Button) => T): Record<Button, T> {
  return Object.fromEntries(BUTTONS.map(button => [button, make(button)])) as Record<Button, T>;
}

export const sessionChecks: Checks<SessionRequests> = {
  ...forButtons(() => nothing),
  openLine: object({ file: text(), line: index, preserveFocus: optional(flag) }),
  setRoom: object({ percent: index }),
  setRecording: object({ on: flag }),
  setMoment: object({ id: index, moment: checkMoment, title: text(), bytes: optional(time) }),
  showSession: object({ id: index }),
  closeSession: object({ id: index }),
  openRecent: object({ file: text() }),
};
