// A recorded page as bytes: the length of the head, the head as JSON, then the arrays.
import { createHash } from 'node:crypto';
import { remembered } from '../base/maps';
import { ARRAYS, type RecordedHead } from '../protocol/recorded';
import type { RecordedPage } from './recordPage';

type Column = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

const ALIGNED = 8;

/** Equal values and columns are written once: most are the same at every moment. */
export function packPage({ session, answers }: RecordedPage): Buffer {
  const packer = new Packer();
  const values = new Map<string, number>();
  const indices = [...answers].map(([key, value]) => {
    const text = packer.textOf(value);
    return [key, remembered(values, text, () => values.size)] as const;
  });
  const head = packer.head(session, Object.fromEntries(indices));
  // The values are JSON by now.
  const json = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"values":[${[...values.keys()].join(',')}]}`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const padding = Buffer.alloc(-(length.length + json.length) & (ALIGNED - 1));
  return Buffer.concat([length, json, padding, ...packer.bytes]);
}

class Packer {
  readonly bytes: Buffer[] = [];
  private length = 0;
  private readonly arrays: RecordedHead['arrays'] = [];
  private readonly known = new Map<string, number>();
  private readonly texts = new Map<string, number>();

  head(session: RecordedHead['session'], answers: RecordedHead['answers']): Omit<RecordedHead, 'values'> {
    return { session, answers, texts: [...this.texts.keys()], arrays: this.arrays };
  }

  textOf(value: unknown): string {
    return JSON.stringify(value ?? null, (_, one: unknown) => this.packed(one));
  }

  private packed(value: unknown): unknown {
    if (ArrayBuffer.isView(value)) return { $array: this.column(value as Column) };
    if (!Array.isArray(value) || value.length === 0 || !value.every(one => typeof one === 'string')) return value;
    const indices = value.map(text => remembered(this.texts, text, () => this.texts.size));
    return { $texts: this.column(Uint32Array.from(indices)) };
  }

  private column(column: Column): number {
    const type = column.constructor.name as keyof typeof ARRAYS;
    const bytes = Buffer.from(column.buffer, column.byteOffset, column.byteLength);
    const key = `${type} ${createHash('sha256').update(bytes).digest('base64')}`;
    return remembered(this.known, key, () => {
      this.bytes.push(bytes, Buffer.alloc(-bytes.length & (ALIGNED - 1)));
      const first = this.length;
      this.length += bytes.length + (-bytes.length & (ALIGNED - 1));
      return this.arrays.push([type, first, column.length]) - 1;
    });
  }
}
