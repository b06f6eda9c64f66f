// Values that came from outside, as JSON of any shape: what of them can be used.
import { attempt } from './attempt';

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of a JSON text; null: it is no object, or damaged. */
export function parseFields(text: string): Fields | null {
  const value = attempt<unknown>(() => JSON.parse(text), null);
  return isFields(value) ? value : null;
}

/** The objects of a list; empty where it is no list. */
export function fieldsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
