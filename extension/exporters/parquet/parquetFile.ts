import { ByteWriter, ParquetWriter, schemaFromColumnData, type ColumnSource } from 'hyparquet-writer';
import { batches } from '../../base/maps';
import type { Columns, ColumnType, RowOf } from './tables';

/** A Parquet file that is written a group of rows at a time. */
export class ParquetFile<C extends Columns> {
  private readonly bytes = new ByteWriter();
  private readonly writer: ParquetWriter;

  /** `facts` stand in the file's metadata as `gpu_memory_trace`. */
  constructor(
    private readonly columns: C,
    facts: object,
  ) {
    this.writer = new ParquetWriter({
      writer: this.bytes,
      schema: schemaFromColumnData({ columnData: this.columnData([]) }),
      kvMetadata: [{ key: 'gpu_memory_trace', value: JSON.stringify(facts) }],
      createdBy: 'GPU Memory Trace',
    });
  }

  /** What is to be appended to the file for these rows. */
  group(rows: readonly RowOf<C>[]): Uint8Array {
    const columnData = this.columnData(rows).map(({ name, data }) => ({ name, data }));
    if (rows.length > 0) void this.writer.write({ columnData, rowGroupSize: rows.length });
    return this.take();
  }

  /** What ends the file. */
  end(): Uint8Array {
    void this.writer.finish();
    return this.take();
  }

  private take(): Uint8Array {
    const written = this.bytes.getBytes().slice();
    this.bytes.index = 0; // the writer counts what it gave away in `offset`
    return written;
  }

  private columnData(rows: readonly RowOf<C>[]): ColumnSource[] {
    return Object.entries(this.columns).map(([name, type]) => ({
      ...{ name, type, nullable: true },
      data: rows.map(row => stored(type, row[name] ?? null)),
    }));
  }
}

/** A value as the writer takes it for a type. */
function stored(type: ColumnType, value: unknown): unknown {
  if (value === null || (typeof value === 'number' && Number.isNaN(value))) return null;
  if (type === 'INT64') return BigInt.asIntN(64, typeof value === 'bigint' ? value : BigInt(Math.round(Number(value))));
  if (type === 'TIMESTAMP') return new Date(Number(value));
  return value;
}

/** A whole file of rows that come in any number. */
export function* parquetChunks<C extends Columns>(
  columns: C,
  rows: Iterable<RowOf<C>>,
  facts: object,
): Generator<Uint8Array> {
  const file = new ParquetFile(columns, facts);
  for (const group of batches(rows, GROUP_ROWS)) yield file.group(group);
  yield file.end();
}

const GROUP_ROWS = 50_000;
