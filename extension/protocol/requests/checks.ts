// Checks of what comes from the page, field by field. Each throws `Refused` with what the field should be.

/** Why a message is refused, as half a sentence. */
export class Refused extends Error {}

/** For each request: its parameters, checked. What is not named is left out. */
export type Checks<R> = { [M in keyof R]: (params: unknown) => R[M] extends (params: infer P) => unknown ? P : never };

export type Fields = Record<string, unknown>;

const MAX_TEXT = 4_096;

/** For requests without parameters. */
export const nothing = (): undefined => undefined;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function object(value: unknown, what: string): Fields {
  if (!isFields(value)) throw new Refused(`the parameters of ${what} are an object`);
  return value;
}

export function index(from: Fields, name: string): number {
  const value = from[name];
  if (!isIndex(value)) throw new Refused(`${name} is a whole number from 0`);
  return value;
}

/** -1 stands for all. */
export function indexOrAll(from: Fields, name: string): number {
  return from[name] === -1 ? -1 : index(from, name);
}

export function time(from: Fields, name: string): number {
  const value = from[name];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refused(`${name} is a time in nanoseconds`);
  return value;
}

export function flag(from: Fields, name: string): boolean {
  const value = from[name];
  if (typeof value !== 'boolean') throw new Refused(`${name} is true or false`);
  return value;
}

export function text(from: Fields, name: string, most = MAX_TEXT): string {
  const value = from[name];
  if (typeof value !== 'string' || value.length > most)
    throw new Refused(`${name} is a text of up to ${most} characters`);
  return value;
}

export function oneOf<T extends string>(from: Fields, name: string, allowed: readonly T[]): T {
  const found = allowed.find(candidate => candidate === from[name]);
  if (found === undefined) throw new Refused(`${name} is one of ${allowed.join(', ')}`);
  return found;
}

export function listOf<T>(from: Fields, name: string, most: number, entry: (value: unknown) => T): T[] {
  const value = from[name];
  if (!Array.isArray(value) || value.length > most) throw new Refused(`${name} is a list of up to ${most} entries`);
  return value.map(entry);
}

/** Rows [from, to) of a list. */
export function rowWindow(from: Fields, most: number): { from: number; to: number } {
  const window = { from: index(from, 'from'), to: index(from, 'to') };
  if (window.to < window.from || window.to - window.from > most) throw new Refused(`a window has 0 to ${most} rows`);
  return window;
}
