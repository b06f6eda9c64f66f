import { RecordBatch, RecordBatchFileWriter, Schema, Struct, makeData, type Data } from 'apache-arrow';
import type { LifetimeBatch, TraceSource } from '../protocol/trace';
import { LAYERS } from '../protocol/trace';
import { arrowColumns, type ArrowColumn } from './arrowColumns';
import type { ExportInput } from './exportInput';
import { traceFacts } from './traceFacts';

const SITES_AT_ONCE = 10_000;

/**
 * An Arrow IPC file, one row an allocation, ended or live (then `end_ns` is null). Texts are dictionary-encoded, and their
 * dictionaries stand once, before the first row, as readers of files want them. The schema's metadata `gpu_memory_trace` is JSON.
 */
export async function* arrowChunks(input: ExportInput): AsyncGenerator<Uint8Array> {
  const columns = arrowColumns(input, [...allSites(input.trace)]);
  const facts = JSON.stringify(traceFacts(input.info, input.selection));
  const schema = new Schema(
    columns.map(column => column.field),
    new Map([['gpu_memory_trace', facts]]),
  );
  const writer = new Writer();
  const bytes = writer[Symbol.asyncIterator]();
  let taken = 0;
  const write = async function* (batch: LifetimeBatch): AsyncGenerator<Uint8Array> {
    writer.write(recordBatch(schema, columns, batch));
    while (taken < writer.position) {
      const chunk = (await bytes.next()).value as Uint8Array;
      taken += chunk.byteLength;
      yield chunk;
    }
  };
  yield* write(NO_ROWS);
  for await (const batch of input.batches) if (batch.rows > 0) yield* write(batch);
  writer.close();
  for (let next = await bytes.next(); !next.done; next = await bytes.next()) yield next.value as Uint8Array;
}

class Writer extends RecordBatchFileWriter {
  /** Bytes written so far. */
  get position(): number {
    return this._position;
  }
}

function recordBatch(schema: Schema, columns: readonly ArrowColumn[], batch: LifetimeBatch): RecordBatch {
  const children: Data[] = columns.map(column => column.data(batch));
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: batch.rows, nullCount: 0, children }),
  );
}

const NO_ROWS: LifetimeBatch = {
  rows: 0,
  address: new BigUint64Array(),
  bytes: new Float64Array(),
  device: new Int32Array(),
  process: new Int32Array(),
  thread: new Int32Array(),
  layer: new Uint8Array(),
  site: new Uint32Array(),
  beginNs: new Float64Array(),
  endNs: new Float64Array(),
  freeThread: new Int32Array(),
  stream: new BigUint64Array(),
  kind: new Uint8Array(),
  stepBegin: new Float64Array(),
  modules: [],
  module: new Uint32Array(),
  category: new Uint8Array(),
};

/** Numbers of all sites, those that hold nothing now as well. */
function* allSites(trace: TraceSource): Generator<number> {
  for (const layer of LAYERS) {
    for (let from = 0; ; from += SITES_AT_ONCE) {
      const query = { layer, groupBy: 'site', sort: 'liveBytes', descending: true, includeDead: true } as const;
      const window = trace.sites({ ...query, from, to: from + SITES_AT_ONCE });
      yield* window.id;
      if (window.rows < SITES_AT_ONCE) break;
    }
  }
}
