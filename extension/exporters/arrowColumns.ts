import type { Data, DataType, Vector } from 'apache-arrow';
import { Bool, Dictionary, Field, Int32, Int64, Uint32, Uint64, Utf8, makeData, vectorFromArray } from 'apache-arrow';
import { CATEGORIES } from '../protocol/steps';
import { LAYERS, type LifetimeBatch } from '../protocol/trace';
import { isAlive, type ExportInput } from './exportInput';
import { KIND_NAMES, kindName } from './kinds';
import { SiteBook, stackText, threadName } from './siteBook';
import { traceFacts } from './traceFacts';

/** A column of the file and how it is made of a batch. */
export interface ArrowColumn {
  field: Field;
  data(batch: LifetimeBatch): Data;
}
type Row<T> = (batch: LifetimeBatch, row: number) => T;

/** A thread's place in a table of all processes' threads. */
const key = (process = -1, thread = -1): number => process * 2 ** 32 + thread;

/** `sites`: numbers of the trace's sites, whose stacks make up the dictionaries. */
export function arrowColumns(input: ExportInput, sites: readonly number[]): ArrowColumn[] {
  const { info } = input;
  const processOf: Row<(typeof info.processes)[number] | undefined> = (batch, row) =>
    info.processes[batch.process[row] ?? -1];
  const { simulated } = traceFacts(info, input.selection);
  const threads = new Map(
    info.processes.flatMap(({ index, threads: own }) =>
      own.map(({ index: thread, tid }) => [key(index, thread), { tid, name: threadName(info, index, thread) }]),
    ),
  );
  const names = [...threads.values()].map(({ name }) => name);
  const nameOf = (process: number | undefined, thread: number | undefined): string =>
    threads.get(key(process, thread))?.name ?? '';
  return [
    uint64('address', batch => batch.address),
    int64('bytes', (batch, row) => batch.bytes[row] ?? 0),
    text('layer', LAYERS, (batch, row) => LAYERS[batch.layer[row] ?? -1] ?? null),
    text('kind', KIND_NAMES, (batch, row) => kindName(batch.kind[row] ?? 0)),
    int32('device', (batch, row) => atLeast0(batch.device[row])),
    int32('pid', (batch, row) => processOf(batch, row)?.pid ?? null),
    int32('tid', (batch, row) => threads.get(key(batch.process[row], batch.thread[row]))?.tid ?? null),
    text('thread', names, (batch, row) => nameOf(batch.process[row], batch.thread[row])),
    int64('begin_ns', (batch, row) => batch.beginNs[row] ?? 0),
    int64('end_ns', (batch, row) => (isAlive(batch, row) ? null : (batch.endNs[row] ?? 0))),
    text('free_thread', names, (batch, row) => nameOf(batch.process[row], batch.freeThread[row])),
    int32('step', (batch, row) => batch.stepBegin[row] ?? null),
    text('category', CATEGORIES, (batch, row) => CATEGORIES[batch.category[row] ?? -1] ?? null),
    words('module', (batch, row) => batch.modules[batch.module[row] ?? -1] || null),
    uint64('stream', batch => batch.stream),
    ...siteColumns(input, sites),
    bool('simulated', (batch, row) => processOf(batch, row)?.simulated ?? simulated),
  ];
}

/** The line and the stack. Texts come from all sites of the trace, whose numbers need not be those of the batches. */
function siteColumns(input: ExportInput, sites: readonly number[]): ArrowColumn[] {
  const all = new SiteBook(input.trace);
  const book = new SiteBook(input);
  const siteOf: Row<number> = (batch, row) => batch.site[row] ?? 0;
  const lines = sites.map(id => all.line(id));
  const [files, functions] = [lines.map(line => line.file), lines.map(line => line.function)];
  const stacks = sites.map(id => stackText(all.frames(id)));
  return [
    text('file', files, (batch, row) => book.line(siteOf(batch, row)).file),
    int32('line', (batch, row) => book.line(siteOf(batch, row)).line),
    text('function', functions, (batch, row) => book.line(siteOf(batch, row)).function),
    text('stack', stacks, (batch, row) => book.stack(siteOf(batch, row))),
    uint32('site', siteOf),
  ];
}

const atLeast0 = (value: number | undefined): number | null => (value === undefined || value < 0 ? null : value);

function uint64(name: string, values: (batch: LifetimeBatch) => BigUint64Array): ArrowColumn {
  const type = new Uint64();
  return {
    field: new Field(name, type, false),
    data: batch => makeData({ type, length: batch.rows, nullCount: 0, data: values(batch) }),
  };
}

function uint32(name: string, value: Row<number>): ArrowColumn {
  return column(new Field(name, new Uint32(), false), value, values => Uint32Array.from(values));
}

function int64(name: string, value: Row<number | null>): ArrowColumn {
  return column(new Field(name, new Int64(), true), value, values =>
    BigInt64Array.from(values, number => BigInt(Math.round(number ?? 0))),
  );
}

function int32(name: string, value: Row<number | null>): ArrowColumn {
  return column(new Field(name, new Int32(), true), value, integers);
}

function bool(name: string, value: Row<boolean>): ArrowColumn {
  return column(new Field(name, new Bool(), false), value, bitmap);
}

/** Texts by their place in a dictionary that is the same in every batch; what is not in it, and the empty text, is null. */
function text(name: string, words: readonly string[], value: Row<string | null>): ArrowColumn {
  const known = [...new Set(words)].filter(word => word !== '');
  const places = new Map(known.map((word, place) => [word, place]));
  const place: Row<number | null> = (batch, row) => places.get(value(batch, row) ?? '') ?? null;
  const field = new Field(name, new Dictionary(new Utf8(), new Int32()), true);
  return column(field, place, integers, { dictionary: vectorFromArray(known, new Utf8()) });
}

/** Texts that are not known before they come: each row has its own. */
function words(name: string, value: Row<string | null>): ArrowColumn {
  return {
    field: new Field(name, new Utf8(), true),
    data: batch =>
      vectorFromArray(
        Array.from({ length: batch.rows }, (_, row) => value(batch, row)),
        new Utf8(),
      ).data[0]!,
  };
}

const integers = (values: readonly (number | null)[]): Int32Array => Int32Array.from(values, number => number ?? 0);

/** `pack` puts the values of a batch into one buffer, whatever for those that are null. */
function column<T>(
  field: Field,
  value: Row<T>,
  pack: (values: readonly T[]) => Uint8Array | Uint32Array | Int32Array | BigInt64Array,
  more: { dictionary?: Vector } = {},
): ArrowColumn {
  return {
    field,
    data: batch => {
      const values = Array.from({ length: batch.rows }, (_, row) => value(batch, row));
      const nullCount = values.filter(entry => entry === null).length;
      const nulls = field.nullable ? { nullCount, nullBitmap: bitmap(values.map(entry => entry !== null)) } : {};
      const type: DataType = field.type;
      const made = { type, length: batch.rows, nullCount: 0, ...nulls, data: pack(values), ...more };
      return makeData(made);
    },
  };
}

/** Least significant bit first, padded to 8 bytes. */
function bitmap(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 64) * 8);
  bits.forEach((bit, i) => {
    if (bit) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  });
  return bytes;
}
