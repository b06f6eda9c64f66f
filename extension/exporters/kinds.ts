/** How memory was taken, by `enum gmt_kind` of native/wire/layout.h. */
const KINDS: Record<number, string> = {
  1: 'tensor',
  16: 'device',
  17: 'managed',
  18: 'async',
  19: 'array',
  20: 'pinned host',
  21: 'registered host',
  22: 'physical',
  23: 'import',
  24: 'graph',
};

export function kindName(kind: number): string {
  return KINDS[kind] ?? `kind ${kind}`;
}
