// Writes Python's pickle format, protocol 4 (PEP 3154), as a stream. Only those opcodes appear that PyTorch's memory viewer reads.
import { batches } from '../base/maps';

const OP = {
  PROTO: 0x80,
  STOP: 0x2e,
  MARK: 0x28,
  NONE: 0x4e,
  TRUE: 0x88,
  FALSE: 0x89,
  BININT: 0x4a,
  BININT1: 0x4b,
  BININT2: 0x4d,
  LONG1: 0x8a,
  BINFLOAT: 0x47,
  SHORT_BINUNICODE: 0x8c,
  BINUNICODE: 0x58,
  EMPTY_LIST: 0x5d,
  APPENDS: 0x65,
  EMPTY_DICT: 0x7d,
  SETITEMS: 0x75,
  MEMOIZE: 0x94,
  BINGET: 0x68,
  LONG_BINGET: 0x6a,
} as const;

const PROTOCOL = 4;
const ITEMS_AT_ONCE = 1_000;
const CHUNK_BYTES = 1 << 16;
/** Strings longer than this are written each time: they are no names that come again. */
const LONGEST_MEMOIZED = 1024;

/** What is written the first time, and from then on referred to. */
export class Shared {
  constructor(readonly value: () => PickleValue) {}
}
type Plain = null | boolean | number | bigint | string | Shared;
/** The types of JSON, bigint and shared objects. Numbers that are whole become Python's int. */
export type PickleValue = Plain | PickleValue[] | { [key: string]: PickleValue };
/** A list that is made as it is written. */
export type PickleList = Iterable<PickleValue | PickleList>;

/** A dict in pieces. */
export function* pickleChunks(dict: Record<string, PickleValue | PickleList>): Generator<Buffer> {
  const pickle = new PickleWriter();
  pickle.value({});
  pickle.mark();
  for (const [key, value] of Object.entries(dict)) {
    pickle.string(key);
    yield* pickle.pieces(value);
  }
  pickle.setItems();
  pickle.stop();
  yield pickle.take();
}

function isList(value: PickleValue | PickleList): value is PickleList {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && !Array.isArray(value);
}

export class PickleWriter {
  private buffer = Buffer.allocUnsafe(1 << 16);
  private length = 0;
  private readonly memo = new Map<unknown, number>();

  constructor() {
    this.bytes(OP.PROTO, PROTOCOL);
  }

  /** What was written since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.buffer.subarray(0, this.length));
    this.length = 0;
    return taken;
  }

  stop(): void {
    this.bytes(OP.STOP);
  }

  /** An empty list, which takes what stands between `mark` and `appends`: at most some thousand values at a time. */
  list(): void {
    this.bytes(OP.EMPTY_LIST);
  }
  mark(): void {
    this.bytes(OP.MARK);
  }
  appends(): void {
    this.bytes(OP.APPENDS);
  }
  setItems(): void {
    this.bytes(OP.SETITEMS);
  }

  /** A value with the lists in it that are made as it is written, in pieces. */
  *pieces(value: PickleValue | PickleList): Generator<Buffer> {
    if (!isList(value)) return this.value(value);
    this.list();
    for (const items of batches(value, ITEMS_AT_ONCE)) {
      this.mark();
      for (const item of items) yield* this.pieces(item);
      this.appends();
      if (this.length > CHUNK_BYTES) yield this.take();
    }
  }

  /** Writes one value the first time, and from then on a reference to it. */
  shared(key: object, write: () => void): void {
    if (this.recalled(key)) return;
    write();
    this.memoize(key);
  }

  value(value: PickleValue): void {
    if (value === null) this.bytes(OP.NONE);
    else if (typeof value === 'boolean') this.bytes(value ? OP.TRUE : OP.FALSE);
    else if (typeof value === 'number' || typeof value === 'bigint') this.number(value);
    else if (typeof value === 'string') this.string(value);
    else if (value instanceof Shared) this.shared(value, () => this.value(value.value()));
    else if (Array.isArray(value)) this.array(value);
    else this.object(value);
  }

  number(value: number | bigint): void {
    if (typeof value === 'number' && !Number.isInteger(value)) this.float(value);
    else if (value >= 0 && value <= 0xff) this.bytes(OP.BININT1, Number(value));
    else if (value >= 0 && value <= 0xffff) this.bytes(OP.BININT2, Number(value) & 0xff, Number(value) >> 8);
    else if (value >= -0x80000000 && value <= 0x7fffffff) {
      this.bytes(OP.BININT);
      this.length = this.room(4).writeInt32LE(Number(value), this.length);
    } else this.long(BigInt(value));
  }

  string(text: string): void {
    if (this.recalled(text)) return;
    const bytes = Buffer.from(text, 'utf8');
    if (bytes.length <= 0xff) this.bytes(OP.SHORT_BINUNICODE, bytes.length);
    else {
      this.bytes(OP.BINUNICODE);
      this.length = this.room(4).writeUInt32LE(bytes.length, this.length);
    }
    bytes.copy(this.room(bytes.length), this.length);
    this.length += bytes.length;
    if (bytes.length <= LONGEST_MEMOIZED) this.memoize(text);
  }

  private array(values: readonly PickleValue[]): void {
    this.list();
    for (const items of batches(values, ITEMS_AT_ONCE)) {
      this.mark();
      for (const item of items) this.value(item);
      this.appends();
    }
  }

  private object(object: { [key: string]: PickleValue }): void {
    this.bytes(OP.EMPTY_DICT);
    const entries = Object.entries(object);
    if (entries.length === 0) return;
    this.mark();
    for (const [key, value] of entries) {
      this.string(key);
      this.value(value);
    }
    this.setItems();
  }

  private float(value: number): void {
    this.bytes(OP.BINFLOAT);
    this.length = this.room(8).writeDoubleBE(value, this.length);
  }

  /** Two's complement in as few bytes as hold it. */
  private long(value: bigint): void {
    let size = 1;
    while (BigInt.asIntN(size * 8, value) !== value) size++;
    this.bytes(OP.LONG1, size);
    for (let i = 0; i < size; i++) this.bytes(Number((value >> BigInt(8 * i)) & 0xffn));
  }

  private recalled(key: unknown): boolean {
    const id = this.memo.get(key);
    if (id === undefined) return false;
    if (id <= 0xff) this.bytes(OP.BINGET, id);
    else {
      this.bytes(OP.LONG_BINGET);
      this.length = this.room(4).writeUInt32LE(id, this.length);
    }
    return true;
  }

  private memoize(key: unknown): void {
    this.bytes(OP.MEMOIZE);
    this.memo.set(key, this.memo.size);
  }

  private bytes(...values: number[]): void {
    const buffer = this.room(values.length);
    for (const value of values) buffer[this.length++] = value;
  }

  private room(bytes: number): Buffer {
    if (this.length + bytes > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    return this.buffer;
  }
}
