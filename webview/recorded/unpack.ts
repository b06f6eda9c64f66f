// What the file holds, as values by the keys of requests; see `extension/html/pack.ts`.
import { isFields } from '../../extension/base/fields';
import { ARRAYS, type RecordedHead } from '../../extension/protocol/requests/recorded';

/** Gives the recorded value of a key; undefined: there is none. */
export type ValueOf = (key: string) => unknown;

/** Of `OfSites`; undefined: there is none of this site. */
export interface UnpackedSites {
  sites: Uint32Array;
  valueOf(site: number): unknown;
}

export async function unpack(base64: string): Promise<{ session: RecordedHead['session']; valueOf: ValueOf }> {
  const packed = Uint8Array.from(atob(base64), one => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as RecordedHead;
  const begin = Math.ceil((4 + length) / 8) * 8;
  const { session, answers, values, texts, arrays } = head;
  const column = (index: number) => {
    const [type, first, count] = arrays[index]!;
    return new ARRAYS[type](bytes, begin + first, count);
  };
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (!isFields(value)) return value;
    if (typeof value.$array === 'number') return column(value.$array);
    if (typeof value.$sites === 'number' && typeof value.$values === 'number') {
      const [sites, of] = [column(value.$sites) as Uint32Array, column(value.$values)];
      return {
        sites,
        valueOf: (site: number) => read(values[Number(of[sites.indexOf(site)])]),
      } satisfies UnpackedSites;
    }
    if (typeof value.$texts === 'number')
      return Array.from(column(value.$texts) as Uint32Array, text => texts[text] ?? '');
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(one)]));
  };
  return {
    session: read(session) as RecordedHead['session'],
    valueOf: key => (Object.hasOwn(answers, key) ? read(values[answers[key]!]) : undefined),
  };
}
