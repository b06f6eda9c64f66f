// What the agent answers is JSON of any shape: what of it can be used.

export type Entry = Record<string, unknown>;

/** null: it is no object, or damaged. */
export function parseObject(text: string): Entry | null {
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : null;
  } catch {
    return null;
  }
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Its objects; empty where it is no list. */
export function entries(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}
