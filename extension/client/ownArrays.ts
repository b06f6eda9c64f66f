type Numbers = Float64Array | BigUint64Array;

/** The same value; typed arrays in it get memory of their own: those that came are windows of a packet, which would travel on as a whole. */
export function ownArrays(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Numbers).slice();
  if (typeof value !== 'object' || value === null) return value;
  // Lists are of one kind each.
  if (Array.isArray(value) && typeof value[0] !== 'object') return value;
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(fields)) if (typeof field === 'object') fields[name] = ownArrays(field);
  return value;
}
