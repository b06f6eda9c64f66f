import type { LifetimeCursor } from '../native/native';
import { LAYERS, type Layer, type LifetimeBatch, type Site, type TraceInfo, type TraceSource } from '../protocol/trace';

/** Which allocations are exported. Times are nanoseconds of the session. */
export interface Selection {
  /** Only those that were allocated from here on and are alive at `untilNs`; null: all. */
  fromNs: number | null;
  /** Everything as it was at this moment; null: at the trace's end. */
  untilNs: number | null;
}

/** What an exporter gets. */
export interface ExportInput {
  /** Answers as at the selection's end. Its sites may have other numbers than those of `batches`. */
  trace: TraceSource;
  info: TraceInfo;
  selection: Selection;
  /** The selected allocations, once, in the order in which they ended; then those that are alive. */
  batches: AsyncIterable<LifetimeBatch>;
  /** The sites that batches name. */
  site(id: number): Site | null;
}

export interface ExportWatch {
  /** Once it is aborted, reading on rejects with its reason. */
  signal?: AbortSignal;
  /** Part of the allocations that was read, 0 to 1. */
  onProgress?: (done: number) => void;
}

const BATCH_ROWS = 20_000;

/** Reads one selection of a trace. `cursor` stays the caller's to close. */
export function makeInput(
  trace: TraceSource,
  cursor: LifetimeCursor,
  selection: Selection,
  watch: ExportWatch = {},
): ExportInput {
  const read = trace.info();
  const info = { ...read, durationNs: selection.untilNs ?? read.durationNs };
  const total = info.totals.reduce((sum, entry) => sum + entry.allocations, 0);
  return {
    trace,
    info,
    selection,
    batches: readAll(cursor, selection, total, watch),
    site: id => cursor.site(id),
  };
}

async function* readAll(
  cursor: LifetimeCursor,
  { fromNs }: Selection,
  total: number,
  { signal, onProgress }: ExportWatch,
): AsyncGenerator<LifetimeBatch> {
  for (let read = 0; ;) {
    signal?.throwIfAborted();
    const batch = await cursor.next(BATCH_ROWS);
    if (batch === null) return;
    read += batch.rows;
    onProgress?.(total === 0 ? 1 : Math.min(1, read / total));
    yield fromNs === null ? batch : pick(batch, row => (batch.beginNs[row] ?? 0) >= fromNs && isAlive(batch, row));
  }
}

export function isAlive(batch: LifetimeBatch, row: number): boolean {
  return Number.isNaN(batch.endNs[row]);
}

export function layerOf(batch: LifetimeBatch, row: number): Layer {
  return LAYERS[batch.layer[row] ?? 0] ?? 'tensor';
}

function pick(batch: LifetimeBatch, included: (row: number) => boolean): LifetimeBatch {
  const rows = Array.from({ length: batch.rows }, (_, row) => row).filter(included);
  const columns = Object.entries(batch).map(([name, column]) => {
    if (typeof column === 'number') return [name, rows.length];
    if (Array.isArray(column)) return [name, column];
    const { constructor } = column as { constructor: { from(values: Iterable<unknown>): unknown } };
    return [name, constructor.from(rows.map(row => (column as ArrayLike<unknown>)[row]))];
  });
  return Object.fromEntries(columns) as LifetimeBatch;
}
