// Checks of what comes from the page, put together from checks of fields. Each throws `Refused` with what a value should be.
import { isFields, type Fields } from '../../base/fields';

/** Why a message is refused, as half a sentence. */
export class Refused extends Error {}

/** Gives the value back, checked and copied. `name`: what the sentence calls it. */
export type Check<T> = (value: unknown, name: string) => T;

/** What a check lets through, and an object of such fields. */
export type Passed<C> = C extends Check<infer T> ? T : never;
export type Fielded<O> = { [F in keyof O]: Passed<O[F]> };

/** For each request the check of its parameters. */
export type Checks<R> = { [M in keyof R]: Check<R[M] extends (params: infer P) => unknown ? P : never> };

const MAX_TEXT = 4_096;

/** For requests without parameters. */
export const nothing = (): undefined => undefined;

export function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** An object with these fields; what it has besides is left out. */
export function object<T extends object>(of: { [F in keyof T]: Check<T[F]> }): Check<T> {
  return (value, name) => {
    if (!isFields(value)) throw new Refused(`the parameters of ${name} must be an object`);
    const checked: Fields = {};
    for (const [field, check] of Object.entries<Check<unknown>>(of)) {
      const found = check(value[field], field);
      if (found !== undefined) checked[field] = found;
    }
    return checked as T;
  };
}

/** The value may be absent. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, name) => (value === undefined ? undefined : check(value, name));
}

/** As `check`; `wrong` finds what else is the matter, or null. */
export function unless<T>(check: Check<T>, wrong: (value: T, name: string) => string | null): Check<T> {
  return (value, name) => {
    const checked = check(value, name);
    const sentence = wrong(checked, name);
    if (sentence !== null) throw new Refused(sentence);
    return checked;
  };
}

export const index: Check<number> = (value, name) => {
  if (!isIndex(value)) throw new Refused(`${name} must be a whole number, 0 or more`);
  return value;
};

/** -1 stands for all. */
export const indexOrAll: Check<number> = (value, name) => (value === -1 ? -1 : index(value, name));

export const within = (least: number, most: number): Check<number> =>
  unless(index, (value, name) => (value < least || value > most ? `${name} must be ${least} to ${most}` : null));

export const time: Check<number> = (value, name) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refused(`${name} must be a time in nanoseconds`);
  return value;
};

export const flag: Check<boolean> = (value, name) => {
  if (typeof value !== 'boolean') throw new Refused(`${name} must be true or false`);
  return value;
};

export function text(most = MAX_TEXT): Check<string> {
  return (value, name) => {
    if (typeof value === 'string' && value.length <= most) return value;
    throw new Refused(`${name} must be a text of up to ${most} characters`);
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]): Check<T> {
  return (value, name) => {
    const found = allowed.find(candidate => candidate === value);
    if (found === undefined) throw new Refused(`${name} must be one of ${allowed.join(', ')}`);
    return found;
  };
}

/** `each`: what the sentence calls an entry. */
export function listOf<T>(most: number, each: string, entry: Check<T>): Check<T[]> {
  return (value, name) => {
    if (!Array.isArray(value) || value.length > most)
      throw new Refused(`${name} must be a list of up to ${most} entries`);
    return value.map(one => entry(one, each));
  };
}

/** Rows [from, to) of a list. */
export function rowWindow<T extends { from: number; to: number }>(most: number, check: Check<T>): Check<T> {
  return unless(check, ({ from, to }) =>
    to < from || to - from > most ? `a window must have 0 to ${most} rows` : null,
  );
}

/** The span [fromNs, toNs]. */
export function timeSpan<T extends { fromNs: number; toNs: number }>(check: Check<T>): Check<T> {
  return unless(check, ({ fromNs, toNs }) => (toNs < fromNs ? 'a span must begin before it ends' : null));
}

/** Of which process and card; absent or -1: of all. */
export const SCOPE = { process: optional(indexOrAll), device: optional(indexOrAll) };
