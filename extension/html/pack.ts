// A recorded page as JSON. Most of it is the same at every moment, and there once.
import { remembered } from '../base/maps';
import type { RecordedPage } from './recordPage';

/** It is only drawn: three digits are enough. */
const DRAWN = 'spark';

/** As `RecordedValues`. */
export function packPage({ session, answers }: RecordedPage): string {
  const values = new Map<string, number>();
  const packed = (value: unknown, name = ''): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const made = ArrayBuffer.isView(value)
      ? { [`$${value.constructor.name}`]: textsOf(value as Float64Array, name) }
      : Array.isArray(value)
        ? value.map(one => packed(one))
        : Object.fromEntries(fieldsOf(value).map(([key, one]) => [key, packed(one, key)]));
    const text = JSON.stringify(made);
    return { $: remembered(values, text, () => values.size) };
  };
  packed({ session, answers: Object.fromEntries(answers) });
  return `[${[...values.keys()].join(',')}]`;
}

/** A field of the trace's own facts may not be read as a reference. */
const fieldsOf = (value: object): [string, unknown][] => Object.entries(value).filter(([key]) => !key.startsWith('$'));

/** JSON has neither NaN nor 64 bits. */
function textsOf(column: Float64Array | BigUint64Array, name: string): (number | string)[] {
  return Array.from<number | bigint, number | string>(column, one => {
    if (typeof one === 'bigint') return `0x${one.toString(16)}`;
    if (!Number.isFinite(one)) return String(one);
    return name === DRAWN ? Number(one.toPrecision(3)) : one;
  });
}
