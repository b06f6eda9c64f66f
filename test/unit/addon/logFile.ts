// Writes the log of one process as native/wire/layout.h lays it out: one thread's chunks, enough for tests of the addon.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { locals } from './locals.gen';

const headerBytes = 65536;
const chunkBytes = 262144;
const slotsPerChunk = (chunkBytes - 64) / 32;
const localBit = 1n << 63n;

export const kinds = {
  tensorAlloc: 1,
  tensorFree: 2,
  tensorOom: 3,
  reserved: 4,
  deviceAlloc: 16,
  free: 32,
  stop: 65,
  start: 64,
  step: 69,
  gcBegin: 70,
  gcEnd: 71,
};

/** Field 22 of /proc/self/stat. */
function ownStart(): bigint {
  const text = readFileSync('/proc/self/stat', 'utf8');
  return BigInt(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]!);
}

export class LogFile {
  readonly path: string;
  private readonly file: number;
  private chunk = -1;
  private slot = slotsPerChunk;
  private sequence = 0;
  private nextCode = 1;
  private nextStack = 1;
  /** Of the next event, since the process's start. */
  nowNs = 0;

  /** `alive`: the log is this process's own, which goes on; else that of one that is gone. */
  constructor(directory: string, alive = false, pid = alive ? process.pid : 5_000_001) {
    this.path = join(directory, `${pid}-00000001.gmtlog`);
    this.file = openSync(this.path, 'w+', 0o600);
    const header = Buffer.alloc(headerBytes);
    header.write('GPUMEML1', 0, 'latin1');
    [2, headerBytes, chunkBytes, 32, pid, 1, 1000, 0].forEach((word, i) => header.writeUInt32LE(word, 8 + 4 * i));
    header.writeBigUInt64LE(10n ** 12n, 40);
    header.writeBigUInt64LE(10n ** 12n, 48);
    header.writeBigUInt64LE(1_700_000_000n * 10n ** 9n, 56);
    header.writeUInt32LE(1, 80);
    header.writeUInt32LE(1, 84);
    header.writeBigUInt64LE(alive ? ownStart() : 1n, 88);
    header.writeBigUInt64LE(1n, 136);
    writeSync(this.file, header, 0, headerBytes, 0);
  }

  event(kind: number, address: number | bigint, bytes: number, stack = 0, thread = 0, device = 0): void {
    const slot = Buffer.alloc(32);
    const at = this.take(1);
    slot.writeBigUInt64LE((BigInt(++this.sequence) << 16n) | BigInt(thread), 0);
    slot.writeBigUInt64LE(BigInt(address), 8);
    slot.writeBigUInt64LE((BigInt(bytes) << 16n) | BigInt((device << 8) | kind), 16);
    slot.writeUInt32LE(stack, 24);
    slot.writeUInt32LE(this.nowNs, 28);
    this.word(136, BigInt(this.sequence + 1));
    writeSync(this.file, slot, 0, 32, at);
    this.nowNs += 1000;
  }
  /** So many events were counted and never written. */
  skip(events: number): void {
    this.sequence += events;
  }
  thread(index: number, tid: number, name: string): void {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(tid, 0);
    head.writeUInt16LE(index, 4);
    head.writeUInt16LE(Buffer.byteLength(name), 6);
    this.local(locals.thread, head, name);
  }
  /** Lines innermost first; `flags`: GMT_STACK_*. Returns the stack's id. */
  stack(lines: { file: string; line: number; function: string }[], flags = 0): number {
    const frames = Buffer.alloc(8 + 8 * lines.length);
    const codes = lines.map(line => this.code(line.file, line.line, line.function));
    frames.writeUInt32LE(this.nextStack, 0);
    frames.writeUInt16LE(lines.length, 4);
    frames.writeUInt16LE(flags, 6);
    codes.forEach((code, i) => {
      frames.writeUInt32LE(code, 8 + 8 * i);
      frames.writeUInt32LE(0xffffffff, 12 + 8 * i);
    });
    this.local(locals.stack, frames, '');
    return this.nextStack++;
  }
  device(index: number, name: string, totalBytes: bigint): void {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(index, 0);
    head.writeUInt32LE(Buffer.byteLength(name), 4);
    head.writeBigUInt64LE(totalBytes, 8);
    this.local(locals.device, head, name);
  }
  process(command: string[], python = 0x030c01f0): void {
    const text = command.map(part => `${part}\0`).join('');
    const head = Buffer.alloc(8);
    head.writeUInt32LE(Buffer.byteLength(text), 0);
    head.writeUInt32LE(python, 4);
    this.local(locals.process, head, text);
  }
  /** What the block at `address` is, as far as the events up to `sequence` go. */
  name(address: bigint, sequence: number, category: number, text: string, device = 0): void {
    const head = Buffer.alloc(24);
    head.writeBigUInt64LE(address, 0);
    head.writeBigUInt64LE(BigInt(sequence), 8);
    head.writeUInt32LE(Buffer.byteLength(text), 16);
    head.writeUInt8(device, 20);
    head.writeUInt8(category, 21);
    this.local(locals.name, head, text);
  }
  /** The device's own account, at the time of the next event. */
  memory(device: number, processBytes: bigint, usedBytes: bigint, totalBytes: bigint): void {
    const head = Buffer.alloc(40);
    head.writeBigUInt64LE(10n ** 12n + BigInt(this.nowNs), 0);
    [processBytes, usedBytes, totalBytes].forEach((bytes, i) => head.writeBigUInt64LE(bytes, 8 + 8 * i));
    head.writeUInt32LE(device, 32);
    this.local(locals.memory, head, '');
  }
  /** What the framework's allocator says of the device, behind the event written last. */
  allocator(device: number, allocated: number, active: number): void {
    const head = Buffer.alloc(32);
    [this.sequence, allocated, active].forEach((word, i) => head.writeBigUInt64LE(BigInt(word), 8 * i));
    head.writeUInt32LE(device, 24);
    this.local(locals.allocator, head, '');
  }
  /** What it says of the block at `address`; null: not told. */
  block(address: bigint, requested: number | null, stream: bigint | null, pool: [number, number] | null): void {
    const head = Buffer.alloc(56);
    const words = [requested, stream, pool?.[0] ?? null, pool?.[1] ?? null];
    head.writeBigUInt64LE(address, 0);
    head.writeBigUInt64LE(BigInt(this.sequence), 8);
    words.forEach((word, i) => head.writeBigUInt64LE(word === null ? 2n ** 64n - 1n : BigInt(word), 16 + 8 * i));
    this.local(locals.block, head, '');
  }
  /** An answer in parts, found behind the event written last. */
  answer(request: number, parts: string[]): void {
    parts.forEach((text, part) => {
      const head = Buffer.alloc(24);
      head.writeBigUInt64LE(BigInt(this.sequence), 0);
      head.writeUInt32LE(request, 8);
      head.writeUInt16LE(part, 12);
      head.writeUInt16LE(parts.length, 14);
      head.writeUInt32LE(Buffer.byteLength(text), 16);
      this.local(locals.answer, head, text);
    });
  }
  note(code: number, text: string): void {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(code, 0);
    head.writeUInt32LE(Buffer.byteLength(text), 4);
    this.local(locals.note, head, text);
  }
  /** `count` events of a cause of enum gmt_loss never came to the log. */
  lose(cause: number, count: bigint): void {
    this.word(256 + 8 * cause, count);
  }
  end(): void {
    this.word(144, 1n);
  }
  close(): void {
    closeSync(this.file);
  }

  private code(file: string, line: number, name: string): number {
    const head = Buffer.alloc(24);
    head.writeUInt32LE(this.nextCode, 0);
    head.writeUInt32LE(line, 4);
    head.writeUInt16LE(0x030c, 8);
    head.writeUInt32LE(Buffer.byteLength(file), 12);
    head.writeUInt32LE(Buffer.byteLength(name), 16);
    this.local(locals.code, head, file + name);
    return this.nextCode++;
  }
  private word(offset: number, value: bigint): void {
    const word = Buffer.alloc(8);
    word.writeBigUInt64LE(value, 0);
    writeSync(this.file, word, 0, 8, offset);
  }
  private local(kind: number, head: Buffer, text: string): void {
    const payload = Buffer.concat([head, Buffer.from(text)]);
    const slots = Math.ceil((16 + payload.length) / 32);
    const record = Buffer.alloc(slots * 32);
    const at = this.take(slots);
    record.writeBigUInt64LE(localBit, 0);
    record.writeUInt8(kind, 8);
    record.writeUInt16LE(slots, 10);
    record.writeUInt32LE(payload.length, 12);
    payload.copy(record, 16);
    writeSync(this.file, record, 0, record.length, at);
  }
  /** Where the next `slots` slots lie. */
  private take(slots: number): number {
    if (this.slot + slots > slotsPerChunk) this.newChunk();
    const at = headerBytes + this.chunk * chunkBytes + 64 + 32 * this.slot;
    this.slot += slots;
    return at;
  }
  private newChunk(): void {
    const unused = this.chunk >= 0 && this.slot < slotsPerChunk;
    if (unused) {
      const end = Buffer.alloc(32);
      end.writeBigUInt64LE(localBit, 0);
      end.writeUInt8(1, 8);
      end.writeUInt16LE(1, 10);
      writeSync(this.file, end, 0, 32, headerBytes + this.chunk * chunkBytes + 64 + 32 * this.slot);
    }
    const head = Buffer.alloc(64);
    head.write('CHNK', 0, 'latin1');
    head.writeUInt32LE(++this.chunk, 4);
    head.writeBigUInt64LE(BigInt(this.sequence + 1), 8);
    head.writeBigUInt64LE(10n ** 12n, 16);
    head.writeBigUInt64LE(10n ** 12n, 24);
    ftruncateSync(this.file, headerBytes + (this.chunk + 1) * chunkBytes);
    this.word(128, BigInt(this.chunk + 1));
    writeSync(this.file, head, 0, 64, headerBytes + this.chunk * chunkBytes);
    this.slot = 0;
  }
}
