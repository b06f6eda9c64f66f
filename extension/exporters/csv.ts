import { CATEGORIES } from '../protocol/steps';
import type { LifetimeBatch } from '../protocol/trace';
import { isAlive, layerOf, type ExportInput } from './exportInput';
import { kindName } from './kinds';
import { deviceName, SiteBook, threadName } from './siteBook';
import { traceFacts } from './traceFacts';

const COLUMNS = [
  'address',
  'bytes',
  'layer',
  'kind',
  'device',
  'pid',
  'tid',
  'thread',
  'begin_seconds',
  'end_seconds',
  'free_thread',
  'step',
  'category',
  'stream',
  'file',
  'line',
  'function',
  'stack',
  'site',
  'simulated',
  'lost_events',
];

type Cell = string | number;

/**
 * One row an allocation, ended or live (then `end_seconds` is empty), as RFC 4180 has it. `stack` is the whole stack, outermost
 * first. The last two columns tell what the format has no other place for.
 */
export async function* csvChunks(input: ExportInput): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRow(COLUMNS));
  const row = rowMaker(input);
  for await (const batch of input.batches) {
    let text = '';
    for (let i = 0; i < batch.rows; i++) text += csvRow(row(batch, i));
    if (text !== '') yield Buffer.from(text);
  }
}

function rowMaker(input: ExportInput): (batch: LifetimeBatch, row: number) => Cell[] {
  const { info } = input;
  const book = new SiteBook(input);
  const { simulated, lost } = traceFacts(info, input.selection);
  return (batch, row) => {
    const process = batch.process[row] ?? -1;
    const thread = batch.thread[row] ?? -1;
    const site = batch.site[row] ?? 0;
    const line = book.line(site);
    return [
      `0x${(batch.address[row] ?? 0n).toString(16)}`,
      batch.bytes[row] ?? 0,
      layerOf(batch, row),
      kindName(batch.kind[row] ?? 0),
      deviceName(batch.device[row] ?? -1),
      info.processes[process]?.pid ?? '',
      info.processes[process]?.threads[thread]?.tid ?? '',
      threadName(info, process, thread),
      (batch.beginNs[row] ?? 0) / 1e9,
      isAlive(batch, row) ? '' : (batch.endNs[row] ?? 0) / 1e9,
      threadName(info, process, batch.freeThread[row] ?? -1),
      batch.stepBegin[row] ?? '',
      CATEGORIES[batch.category[row] ?? -1] ?? '',
      String(batch.stream[row] ?? 0n),
      line.file,
      line.line,
      line.function,
      book.stack(site),
      site,
      String(simulated),
      lost.events,
    ];
  };
}

export function csvRow(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A spreadsheet takes text that begins like a formula for one: an apostrophe before it makes it text. */
function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
