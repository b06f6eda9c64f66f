// What the types of extension/protocol/schema are in C++ and in TypeScript.
import { enums } from '../../../extension/protocol/schema/enums.mjs';

const typed = (cpp, array, row = 'number') => ({ cpp, array, row });
const ELEMENTS = {
  Uint8Array: 'uint8_t',
  Int32Array: 'int32_t',
  Uint32Array: 'uint32_t',
  Float64Array: 'double',
  BigUint64Array: 'uint64_t',
};

const TYPES = {
  u8: typed('uint8_t', 'Uint8Array'),
  u16: typed('uint16_t', 'Int32Array'),
  u32: typed('uint32_t', 'Uint32Array'),
  i32: typed('int32_t', 'Int32Array'),
  f64: typed('double', 'Float64Array'),
  u64: typed('uint64_t', 'Float64Array'),
  i64: typed('int64_t', 'Float64Array'),
  step: typed('uint32_t', 'Float64Array'),
  bits: typed('uint64_t', 'BigUint64Array', 'bigint'),
  bool: { cpp: 'bool', row: 'boolean' },
  text: { cpp: 'std::string', row: 'string' },
  key: { cpp: 'uint64_t', row: 'string' },
};

/** A field as the writers take it. A type that is neither here nor an enum is TypeScript's own, and set by hand in C++. */
export function fieldOf(name, spec) {
  const [text, options = {}] = Array.isArray(spec) ? spec : [spec];
  const [type, ...doc] = text.split(' ');
  const known = TYPES[type] ?? (Object.hasOwn(enums, type) ? { cpp: type, row: type, isEnum: true } : { row: type });
  const field = {
    name,
    type,
    doc: doc.join(' '),
    own: known.cpp !== undefined,
    member: snake(name),
    ...known,
    ...options,
  };
  return field.array ? { ...field, element: ELEMENTS[field.array] } : field;
}

export const fieldsOf = fields => Object.entries(fields).map(([name, spec]) => fieldOf(name, spec));

/** `liveBytes` -> `live_bytes` */
export const snake = name => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
/** `forward-near`, `liveBytes` -> `ForwardNear`, `LiveBytes` */
export const pascal = word => word.replace(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase());
/** `SiteSeries` -> `SITE_SERIES` */
export const upper = name => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

/** The sums that rows can be sorted by, and the other orders. */
export function sortsOf({ fields }, others) {
  return [...fieldsOf(fields).flatMap(field => (field.sort ? [field.name] : [])), ...others];
}
