// Of which moment of a trace rows are. Times are nanoseconds of the session, as in trace.ts.
import { isFields, oneOf, Refused, time, type Fields } from './checks';

/**
 * `now`: as far as was read. `at`: alive at that time. `born`: allocated in [fromNs, toNs] and still alive, now or at `atNs`.
 */
export type Moment =
  { kind: 'now' } | { kind: 'at'; timeNs: number } | { kind: 'born'; fromNs: number; toNs: number; atNs?: number };

/** Added to the parameters of requests that ask for rows; absent = now. */
export interface OfMoment {
  moment?: Moment;
}

export const NOW: Moment = { kind: 'now' };
const KINDS: readonly Moment['kind'][] = ['now', 'at', 'born'];

/** The trace up to this time (ns) answers for the moment; null: the trace as it is. */
export function untilOf(moment: Moment | undefined): number | null {
  if (moment?.kind === 'at') return moment.timeNs;
  return moment?.kind === 'born' ? (moment.atNs ?? null) : null;
}

/** `{ moment }` from the parameters of a request, `{}` where it is absent. Throws `Refused`. */
export function momentField(from: Fields): OfMoment {
  return from.moment === undefined ? {} : { moment: checkMoment(from.moment) };
}

/** Throws `Refused` with what is wrong. */
export function checkMoment(value: unknown): Moment {
  if (!isFields(value)) throw new Refused('a moment is an object');
  const kind = oneOf(value, 'kind', KINDS);
  if (kind === 'now') return NOW;
  if (kind === 'at') return { kind, timeNs: sessionTime(value, 'timeNs') };
  const span = { fromNs: sessionTime(value, 'fromNs'), toNs: sessionTime(value, 'toNs') };
  const atNs = value.atNs === undefined ? undefined : sessionTime(value, 'atNs');
  if (span.toNs < span.fromNs) throw new Refused('a span begins before it ends');
  return atNs === undefined ? { kind, ...span } : { kind, ...span, atNs };
}

function sessionTime(from: Fields, name: string): number {
  const value = time(from, name);
  if (value < 0) throw new Refused(`${name} is a time in nanoseconds from 0`);
  return value;
}
