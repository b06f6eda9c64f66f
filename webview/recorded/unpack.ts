// What the file holds, as it was recorded; see `extension/html/pack.ts`.
import { isFields, type Fields } from '../../extension/base/fields';
import { remembered } from '../../extension/base/maps';
import type { SessionView } from '../../extension/protocol/requests/messages';
import { ARRAYS, type RecordedValues } from '../../extension/protocol/requests/recorded';

/** Gives the recorded answer of a key; undefined: there is none. */
export type ValueOf = (key: string) => unknown;

export async function unpack(base64: string): Promise<{ session: SessionView; valueOf: ValueOf }> {
  const packed = Uint8Array.from(atob(base64), one => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const values = (await new Response(stream).json()) as RecordedValues;
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (!isFields(value)) return value;
    if (typeof value.$ === 'number') return known(value.$);
    const [[name, list] = ['', null], ...more] = Object.entries(value);
    const type = more.length === 0 ? ARRAYS[name.slice(1) as keyof typeof ARRAYS] : undefined;
    if (type === BigUint64Array) return BigUint64Array.from(list as string[], BigInt);
    if (type !== undefined) return (type as Float64ArrayConstructor).from(list as string[], Number);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, read(one)]));
  };
  const done = new Map<number, unknown>();
  /** Each is read when it is needed, once. */
  const known = (index: number): unknown => remembered(done, index, () => read(values[index]));
  const root = values.at(-1) as Record<'session' | 'answers', { $: number }>;
  const answers = values[root.answers.$] as Fields;
  return {
    session: read(root.session) as SessionView,
    valueOf: key => (Object.hasOwn(answers, key) ? read(answers[key]) : undefined),
  };
}
