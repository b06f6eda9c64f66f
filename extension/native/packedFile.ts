// Snapshots as people attach them: packed by gzip, or alone in a zip archive. Read in pieces, and never beyond a bound.
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createInflateRaw } from 'node:zlib';
import { newFileStream, openToRead, type FileHandle, type Stats } from '../files/files';

/** What a snapshot has at most, packed or not. */
const MOST_BYTES = 4 * 1024 ** 3;
/** Snapshots pack to a twentieth; what unpacks to much more than that is made to fill a disk. */
const MOST_TIMES = 100;
const SMALL_BYTES = 64 * 1024 ** 2;
/** The end of a zip archive's table, with the longest comment. */
const ZIP_END = 22 + 0xffff;
const ZIP_TABLE = 16 * 1024 ** 2;
const IFLNK = 0o120000;
const IFMT = 0o170000;

/** Where the bytes of a member lie, and what it is once unpacked. */
interface Member {
  name: string;
  deflated: boolean;
  encrypted: boolean;
  regular: boolean;
  bytes: number;
  unpacked: number;
  crc: number;
  header: number;
}

/** Writes the snapshot in `file` to `target`, a new file; `member`: its name in an archive. Rejects with one sentence. */
export async function unpack(
  file: string,
  packing: 'gzip' | 'zip',
  target: string,
): Promise<{ about: Stats; member: string | null }> {
  const { handle, about } = await openToRead(file);
  try {
    if (packing === 'gzip') {
      await unpackTo(target, handle, { start: 0, end: about.size }, createGunzip(), about.size, false);
      return { about, member: null };
    }
    const member = await onlySnapshot(handle, about.size);
    await unpackMember(handle, member, about.size, target);
    return { about, member: member.name };
  } catch (error) {
    throw new Error(`${file} was not opened: ${reasonOf(error)}.`, { cause: error });
  } finally {
    await handle.close();
  }
}

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'it ends in the middle of its packed data';
  if (code.startsWith('Z_')) return `its packed data is damaged (${message})`;
  return code === 'ENOSPC' ? 'there is no room to unpack it' : message;
}

async function unpackTo(
  target: string,
  handle: FileHandle,
  { start, end }: { start: number; end: number },
  unpacker: Transform | null,
  packed: number,
  sums: boolean,
): Promise<Bounded> {
  const check = new Bounded(packed, sums);
  const source = handle.createReadStream({ start, end: Math.max(start, end - 1), autoClose: false });
  const to = newFileStream(target);
  await (unpacker === null ? pipeline(source, check, to) : pipeline(source, unpacker, check, to));
  return check;
}

async function unpackMember(handle: FileHandle, member: Member, size: number, target: string): Promise<void> {
  const local = await readAt(handle, member.header, 30);
  const start = member.header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  const unpacker = member.deflated ? createInflateRaw() : null;
  const { bytes, crc } = await unpackTo(target, handle, { start, end: start + member.bytes }, unpacker, size, true);
  if (bytes !== member.unpacked || crc !== member.crc) throw new Error(`${member.name} in it is damaged`);
}

/** Counts what passes, and lets no more through than a snapshot can have. */
class Bounded extends Transform {
  bytes = 0;
  private state = 0xffffffff;

  /** `sums`: its checksum is made; gzip has its own. */
  constructor(
    private readonly packed: number,
    private readonly sums: boolean,
  ) {
    super();
  }

  get crc(): number {
    return (this.state ^ 0xffffffff) >>> 0;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    if (this.sums) for (const byte of chunk) this.state = (CRC[(this.state ^ byte) & 0xff] ?? 0) ^ (this.state >>> 8);
    try {
      checkSize(this.bytes, this.packed);
      done(null, chunk);
    } catch (error) {
      done(error as Error);
    }
  }
}

/** Throws where no snapshot has so many bytes, or so many times as many as its packed file. */
function checkSize(bytes: number, packed: number): void {
  if (bytes > MOST_BYTES) throw new Error('it is larger than 4 GiB when unpacked');
  if (bytes > Math.max(SMALL_BYTES, MOST_TIMES * packed))
    throw new Error(`it is more than ${MOST_TIMES} times as large when unpacked, unlike any snapshot`);
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** The one member that can be a snapshot. */
async function onlySnapshot(handle: FileHandle, size: number): Promise<Member> {
  const files = (await membersOf(handle, size)).filter(
    ({ name }) => !name.endsWith('/') && !/(^|\/)(__MACOSX\/|\.)/.test(name),
  );
  const named = files.filter(({ name }) => /\.(pickle|pkl)$/i.test(name));
  const [member, ...others] = named.length > 0 ? named : files;
  if (member === undefined) throw new Error('it is an archive without files');
  if (others.length > 0) throw new Error('it has several files; unpack it and open one of them');
  checkSize(member.unpacked, size);
  if (!member.regular || member.encrypted)
    throw new Error(`${member.name} in it is ${member.encrypted ? 'encrypted' : 'not a regular file'}`);
  return member;
}

async function membersOf(handle: FileHandle, size: number): Promise<Member[]> {
  const tail = await readAt(handle, Math.max(0, size - ZIP_END), Math.min(size, ZIP_END));
  const at = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (at < 0 || at + 22 > tail.length) throw new Error('it is cut short: its file table is missing');
  const [bytes, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (start === 0xffffffff) throw new Error('it is larger than 4 GiB');
  if (bytes > ZIP_TABLE || start + bytes > size) throw new Error('its file table is damaged');
  const table = await readAt(handle, start, bytes);
  const members: Member[] = [];
  for (let place = 0; place + 46 <= bytes && table.readUInt32LE(place) === 0x02014b50;) {
    const nameEnd = place + 46 + table.readUInt16LE(place + 28);
    members.push(memberAt(table, place, nameEnd));
    place = nameEnd + table.readUInt16LE(place + 30) + table.readUInt16LE(place + 32);
  }
  return members;
}

function memberAt(table: Buffer, at: number, nameEnd: number): Member {
  const method = table.readUInt16LE(at + 10);
  const name = table.toString('utf8', at + 46, nameEnd);
  if (method !== 0 && method !== 8) throw new Error(`its compression method (${method}) is not supported`);
  return {
    ...{ name, deflated: method === 8, encrypted: (table.readUInt16LE(at + 8) & 1) === 1 },
    regular: ((table.readUInt32LE(at + 38) >>> 16) & IFMT) !== IFLNK,
    crc: table.readUInt32LE(at + 16),
    bytes: table.readUInt32LE(at + 20),
    unpacked: table.readUInt32LE(at + 24),
    header: table.readUInt32LE(at + 42),
  };
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('it is cut short');
  return buffer;
}
