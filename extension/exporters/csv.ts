import { deviceName } from '../text/format';
import { escapeForTerminal } from '../text/escapeForTerminal';
import { remembered } from '../base/maps';
import { rankOf } from '../protocol/rank';
import { findThread } from '../protocol/threads';
import { CATEGORIES, type LifetimeBatch } from '../protocol/trace';
import { isAlive, layerOf, type ExportInput } from './exportInput';
import { kindName } from './kinds';
import { SiteBook, threadName } from './siteBook';
import { traceFacts } from './traceFacts';

const COLUMNS =
  'address,bytes,layer,kind,device,pid,tid,thread,begin_seconds,end_seconds,free_thread,step,category,module,stream,' +
  'file,line,function,stack,site,simulated,lost_events,rank,host';

type Cell = string | number;

/**
 * One row an allocation, ended or live (then `end_seconds` is empty), as RFC 4180 has it. `stack` is the whole stack, outermost
 * first. The columns behind `site` hold what the format has no other place for.
 */
export async function* csvChunks(input: ExportInput): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRow(COLUMNS.split(',')));
  const row = rowMaker(input);
  for await (const batch of input.batches) {
    let text = '';
    for (let i = 0; i < batch.rows; i++) text += row(batch, i);
    if (text !== '') yield Buffer.from(text);
  }
}

/** Texts that come again in many rows are made once. */
function rowMaker(input: ExportInput): (batch: LifetimeBatch, row: number) => string {
  const { info } = input;
  const { simulated, lost } = traceFacts(info, input.selection);
  const book = new SiteBook(input);
  const placeOf = once((site: number) => {
    const { file, line, function: name } = book.line(site);
    return nameCells([file, line, name, book.stack(site), site, String(simulated), lost.events]);
  });
  const ownerOf = once((process: number, thread: number) => {
    const { tid = '' } = findThread(info.processes, process, thread) ?? {};
    return nameCells([info.processes[process]?.pid ?? '', tid, threadName(info, process, thread)]);
  });
  const rankAt = once((process: number) => {
    const { rank, host } = rankOf(info.processes[process] ?? { notes: [] });
    return nameCells([rank ?? '', host]);
  });
  const nameOf = once((process: number, thread: number) => nameCells([threadName(info, process, thread)]));
  return (batch, row) => {
    const process = batch.process[row] ?? -1;
    const cells: Cell[] = [
      `0x${(batch.address[row] ?? 0n).toString(16)}`,
      batch.bytes[row] ?? 0,
      layerOf(batch, row),
      kindName(batch.kind[row] ?? 0),
      deviceName(batch.device[row] ?? -1, layerOf(batch, row)),
      ownerOf(process, batch.thread[row] ?? -1),
      (batch.beginNs[row] ?? 0) / 1e9,
      isAlive(batch, row) ? '' : (batch.endNs[row] ?? 0) / 1e9,
      nameOf(process, batch.freeThread[row] ?? -1),
      batch.stepBegin[row] ?? '',
      CATEGORIES[batch.category[row] ?? -1] ?? '',
      nameCells([batch.modules[batch.module[row] ?? -1] ?? '']),
      String(batch.stream[row] ?? 0n),
      placeOf(batch.site[row] ?? 0),
      rankAt(process, 0),
    ];
    return `${cells.join(',')}\r\n`;
  };
}

function once(make: (a: number, b: number) => string): (a: number, b?: number) => string {
  const known = new Map<number, string>();
  return (a, b = 0) => remembered(known, a * 2 ** 20 + b, () => make(a, b));
}

export function csvRow(cells: readonly Cell[]): string {
  return `${csvCells(cells)}\r\n`;
}

/** Names of the program, which a terminal may get to see. */
function nameCells(cells: readonly Cell[]): string {
  return csvCells(cells.map(cell => (typeof cell === 'string' ? escapeForTerminal(cell) : cell)));
}

function csvCells(cells: readonly Cell[]): string {
  return cells.map(csvCell).join(',');
}

/** A spreadsheet takes text that begins like a formula for one: an apostrophe before it makes it text. */
function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
