// Of which moment of a trace rows are. Times are nanoseconds of the session, as in trace.ts.
import { isFields } from '../../base/fields';
import { flag, object, oneOf, optional, Refused, time, timeSpan, unless, type Check } from './fieldChecks';

/**
 * `now`: as far as was read. `at`: alive at that time; `peak`: which was one. `born`: allocated in [fromNs, toNs] and still alive, now or at `atNs`.
 */
export type Moment =
  | { kind: 'now' }
  | { kind: 'at'; timeNs: number; peak?: boolean }
  | { kind: 'born'; fromNs: number; toNs: number; atNs?: number };

/** Added to the parameters of requests for rows; absent = now. */
export interface OfMoment {
  moment?: Moment;
}

/** The moment that is shown of a program that freed everything, or nearly, when it ended. */
export interface EndMoment {
  timeNs: number;
  /** The step that ended then; null: none did. */
  step: number | null;
  /** Beside figures of that moment: `at the end of step 200`. */
  when: string;
  /** Which moment it is; and why that is shown: the rest of the sentence. */
  title: string;
  reason: string;
  /** What leads to it, as a button: `Show the last step`. */
  show: string;
  /** Alive then. */
  bytes: number;
}

/** A moment as the pages of a trace show it, with its title ('' for the present); `bytes`: alive then, where that is known. */
export interface PageMoment {
  moment: Moment;
  title: string;
  bytes?: number;
}

/** The moment that editors and status bar show. */
export interface ShownMoment {
  moment: Moment;
  /** Beside its figures: `at the end of step 30`; null: now, or the end. */
  when: string | null;
  /** Alive then, in the layer that is listed first; null: as many as now. */
  bytes: number | null;
  /** It was chosen on a page: what is known of the usual one alone, such as the figures of a leak's card, is not of it. */
  isChosen: boolean;
}

/** The clock of a process that runs is known the better the longer it ran: times of its begin move by less than this. */
export const CLOCK_NS = 500_000;

export const NOW: Moment = { kind: 'now' };
export const SHOWS_NOW: ShownMoment = { moment: NOW, when: null, bytes: null, isChosen: false };
const KINDS: readonly Moment['kind'][] = ['now', 'at', 'born'];

/** The trace up to this time (ns) answers for the moment; null: the trace as it is. */
export function untilOf(moment: Moment | undefined): number | null {
  if (moment?.kind === 'at') return moment.timeNs;
  return moment?.kind === 'born' ? (moment.atNs ?? null) : null;
}

const sessionTime = unless(time, (ns, name) => (ns < 0 ? `${name} must be a time in nanoseconds, 0 or more` : null));

const SHAPES: { [K in Moment['kind']]: Check<Extract<Moment, { kind: K }>> } = {
  now: object({ kind: oneOf('now') }),
  at: object({ kind: oneOf('at'), timeNs: sessionTime, peak: optional(flag) }),
  born: timeSpan(object({ kind: oneOf('born'), fromNs: sessionTime, toNs: sessionTime, atNs: optional(sessionTime) })),
};

/** Throws `Refused` with what is wrong. */
export function checkMoment(value: unknown): Moment {
  if (!isFields(value)) throw new Refused('a moment must be an object');
  const kind = oneOf(...KINDS)(value.kind, 'kind');
  return SHAPES[kind](value, 'a moment');
}

/** The field of `OfMoment`. */
export const MOMENT = { moment: optional(checkMoment) };
