// A recorded page as bytes: the length of the head, the head as JSON, then the arrays.
import { createHash } from 'node:crypto';
import { isFields } from '../base/fields';
import { remembered } from '../base/maps';
import type { ARRAYS, OfSites, RecordedHead } from '../protocol/requests/recorded';
import type { RecordedPage } from './recordPage';

type Column = ArrayBufferView & { length: number };

const ALIGNED = 8;

/** It is only drawn. */
const DRAWN = 'spark';

/** Equal values and columns are written once: most are the same at every moment. */
export function packPage({ session, answers }: RecordedPage): Buffer {
  const packer = new Packer();
  const indices = [...answers].map(([key, value]) => [key, packer.value(value)] as const);
  const head = packer.head(session, Object.fromEntries(indices));
  // The values are JSON by now.
  const json = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"values":[${[...packer.values.keys()].join(',')}]}`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const padding = Buffer.alloc(-(length.length + json.length) & (ALIGNED - 1));
  return Buffer.concat([length, json, padding, ...packer.bytes]);
}

class Packer {
  readonly bytes: Buffer[] = [];
  /** As JSON, each once. */
  readonly values = new Map<string, number>();
  private length = 0;
  private readonly arrays: RecordedHead['arrays'] = [];
  private readonly known = new Map<string, number>();
  private readonly texts = new Map<string, number>();

  head(session: RecordedHead['session'], answers: RecordedHead['answers']): Omit<RecordedHead, 'values'> {
    return { session, answers, texts: [...this.texts.keys()], arrays: this.arrays };
  }

  /** Its number. */
  value(value: unknown): number {
    const text = JSON.stringify(value ?? null, (name, one: unknown) => this.packed(one, name));
    return remembered(this.values, text, () => this.values.size);
  }

  private packed(value: unknown, name: string): unknown {
    if (isOfSites(value)) {
      const values = Uint32Array.from(value.values, one => this.value(one));
      return { $sites: this.column(value.sites), $values: this.column(values) };
    }
    if (ArrayBuffer.isView(value)) {
      const column = value as Float64Array;
      return { $array: this.column(name === DRAWN ? Float32Array.from(column) : column) };
    }
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

function isOfSites(value: unknown): value is OfSites {
  return isFields(value) && value.sites instanceof Uint32Array && Array.isArray(value.values);
}
