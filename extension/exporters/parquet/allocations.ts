import { findThread } from '../../protocol/threads';
import { CATEGORIES } from '../../protocol/trace';
import { rankOf } from '../../protocol/rank';
import type { LifetimeBatch } from '../../protocol/trace';
import { isAlive, layerOf, type ExportInput } from '../exportInput';
import { kindName } from '../kinds';
import { SiteBook, threadName } from '../siteBook';
import { traceFacts } from '../traceFacts';
import { ParquetFile } from './parquetFile';
import { FORMAT_VERSION, TABLES, type TableRow } from './tables';

/** A Parquet file of the table `allocations`: one row an allocation, ended or live (then `end_ns` is null). */
export async function* allocationsChunks(input: ExportInput): AsyncGenerator<Uint8Array> {
  const { selection, info } = input;
  const facts = { formatVersion: FORMAT_VERSION, ...traceFacts(info, selection) };
  const file = new ParquetFile(TABLES.allocations, facts);
  const row = allocationRow(input);
  for await (const batch of input.batches)
    yield file.group(Array.from({ length: batch.rows }, (_, i) => row(batch, i)));
  yield file.end();
}

/** Makes the rows of batches. */
export function allocationRow(
  input: Pick<ExportInput, 'info' | 'site' | 'selection'>,
): (batch: LifetimeBatch, row: number) => TableRow<'allocations'> {
  const { info } = input;
  const book = new SiteBook(input);
  const { simulated } = traceFacts(info, input.selection);
  const ranks = info.processes.map(process => {
    const { run, rank, host } = rankOf(process);
    return { ...{ run, rank, host, pid: process.pid }, simulated: process.simulated || simulated };
  });
  const noRank = { run: '', rank: null, host: '', pid: null, simulated };
  const nameOf = (process: number, thread: number): string | null => threadName(info, process, thread) || null;
  return (batch, row) => {
    const process = batch.process[row] ?? -1;
    const site = batch.site[row] ?? 0;
    const thread = batch.thread[row] ?? -1;
    const device = batch.device[row] ?? -1;
    const { file, line, function: name } = book.line(site);
    const beginNs = batch.beginNs[row] ?? 0;
    return {
      ...(ranks[process] ?? noRank),
      ...{ stack_id: book.site(site)?.key ?? null, layer: layerOf(batch, row), kind: kindName(batch.kind[row] ?? 0) },
      ...{ device: device < 0 ? null : device, address: batch.address[row] ?? 0n, bytes: batch.bytes[row] ?? 0 },
      ...{ tid: findThread(info.processes, process, thread)?.tid ?? null, thread: nameOf(process, thread) },
      ...{ allocated_at: info.startRealtimeMs + beginNs / 1e6, begin_ns: beginNs },
      end_ns: isAlive(batch, row) ? null : (batch.endNs[row] ?? null),
      free_thread: nameOf(process, batch.freeThread[row] ?? -1),
      step: batch.stepBegin[row] ?? null,
      category: CATEGORIES[batch.category[row] ?? -1] ?? null,
      module: batch.modules[batch.module[row] ?? -1] || null,
      ...{ stream: `0x${(batch.stream[row] ?? 0n).toString(16)}`, file: file || null, line, function: name },
      stack: book.stack(site),
    };
  };
}
