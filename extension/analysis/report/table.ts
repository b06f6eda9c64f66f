import { isTold } from '../../protocol/notes';
import {
  deviceName,
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
  formatRate,
  formatTimestamp,
  LAYER_NAMES,
} from '../../protocol/format';
import { LAYERS, type Totals } from '../../protocol/trace';
import { sum } from '../series/statistics';
import { beforeAttachFrees } from './attached';
import { countedText } from '../findings/outOfMemory';
import type { AllocationRow, GroupRow, ProcessRows, Rows, Snapshot } from './snapshot';
import { findingLines, WORDS } from './tableFindings';

export interface TableOptions {
  /** Printed in the first line, to seconds. */
  now: Date;
  /** The last table of a run, or a saved trace: also notes that are not warnings. */
  final: boolean;
}

const RULE = '-'.repeat(20);

/** The lines of the table: what is alive by process and thread, biggest first, with the Python line; then totals. */
export function renderTable(snapshot: Snapshot, options: TableOptions): string[] {
  const { info } = snapshot;
  const lines = [`${RULE} ${formatTimestamp(options.now)} ${RULE}`];
  const simulated = info.processes.some(process => process.simulated);
  if (simulated) lines.push('The GPU is simulated.');
  if (info.totals.length === 0) lines.push('NO EVENT.');
  lines.push(...findingLines(snapshot));
  if (snapshot.asOf !== null) lines.push(`${snapshot.asOf}.`, '');
  for (const entry of snapshot.processes) {
    if (entry.totals.length > 0) lines.push(...processLines(entry, snapshot), '');
  }
  if (info.totals.length > 0) lines.push(...groupLines(snapshot));
  lines.push(...warningLines(snapshot, options.final));
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

function processLines(entry: ProcessRows, snapshot: Snapshot): string[] {
  const lines = [`PID: ${entry.process.pid} / UID: ${entry.process.uid}`];
  for (const thread of entry.threads) {
    lines.push(`  ${thread.thread.name}:${thread.thread.tid}`);
    lines.push(...allocationLines(thread));
  }
  if (entry.moreThreads > 0) lines.push(`  ... and ${formatPlural(entry.moreThreads, 'more thread')}`);
  if (entry.host.rows.length > 0) lines.push(`  ${LAYER_NAMES.host}`, ...allocationLines(entry.host));
  lines.push('', ...totalLines(entry, snapshot));
  return lines;
}

function allocationLines(rows: Rows): string[] {
  const lines = rows.rows.map(row => `    ${place(row)}: ${formatBytes(row.bytes)}  ${row.line}`);
  if (rows.more > 0) lines.push(`    ... and ${formatCount(rows.more)} more: ${formatBytes(rows.moreBytes)}`);
  return lines;
}

function place(row: AllocationRow): string {
  return `0x${row.address.toString(16)}${row.device < 0 ? '' : `:${deviceName(row.device, 'driver')}`}`;
}

/** Layers are named beside each other and never added: tensors live inside what the driver handed out. */
function totalLines(entry: ProcessRows, { info, verdicts }: Snapshot): string[] {
  const live = sum(entry.totals.map(total => (total.layer === entry.layer ? total.liveBytes : 0)));
  const lines = [`TOTAL LIVE: ${formatBytes(live)}`];
  for (const total of [...entry.totals].sort(byLayer)) {
    const device = total.layer === 'host' ? '' : `, ${deviceName(total.device, total.layer)}`;
    const where = `${LAYER_NAMES[total.layer]}${device}`;
    const before = beforeAttachFrees(info, total);
    const blocks = before > 0 ? `, ${formatPlural(before, 'free')} of blocks from before the attach` : '';
    lines.push(`  ${where}: ${totalText(total)}${blocks}`);
    const own = verdicts.ledger.find(one => one.process === entry.process.index && one.device === total.device);
    if (total.layer === 'tensor' && (own?.pending.bytes ?? 0) > 0)
      lines.push(pendingText(total, own?.pending.bytes ?? 0));
    if (total.layer === 'driver') lines.push(...libraryLines(total, verdicts));
  }
  return lines;
}

function pendingText({ device, layer }: Totals, bytes: number): string {
  return `  waiting for a stream, ${deviceName(device, layer)}: ${formatBytes(bytes)} freed, still in use by another stream`;
}

/** Who took it from the driver, apart from a framework's cache; nothing where no library is known. */
function libraryLines({ process, device }: Totals, { ledger }: Snapshot['verdicts']): string[] {
  const libraries = ledger.find(entry => entry.process === process && entry.device === device)?.libraries ?? [];
  if (libraries.every(({ path }) => path === '')) return [];
  return libraries.map(({ name, bytes, bytesPerStep }) => {
    const grows = bytesPerStep !== null && bytesPerStep >= 1 ? ` (+${formatBytes(bytesPerStep)} a step)` : '';
    return `    ${name}: ${formatBytes(bytes)}${grows}`;
  });
}

function byLayer(a: Totals, b: Totals): number {
  return LAYERS.indexOf(a.layer) - LAYERS.indexOf(b.layer) || a.device - b.device;
}

function totalText(total: Totals): string {
  const parts = [
    `${formatBytes(total.liveBytes)} in ${formatCount(total.liveCount)}`,
    `peak ${formatBytes(total.peakBytes)}`,
    formatPlural(total.allocations, 'allocation'),
    formatPlural(total.frees, 'free'),
  ];
  if (total.failed > 0) parts.push(`${formatCount(total.failed)} failed`);
  return parts.join(', ');
}

function groupLines({ groups }: Snapshot): string[] {
  if (groups.rows.length === 0) return [];
  const lines = [`LIVE BY ${groups.by.toUpperCase()} (${LAYER_NAMES[groups.layer]})`];
  const judged = groups.rows.some(row => row.verdict !== null);
  for (const row of groups.rows) {
    const held = `${formatBytes(row.liveBytes).padStart(10)} ${`in ${formatCount(row.liveCount)}`.padEnd(9)}`;
    const word = row.verdict === null ? '' : WORDS.states[row.verdict].name;
    const verdict = judged ? `${word.padEnd(10)} ` : '';
    lines.push(`  ${held} ${rateText(row).padEnd(14)} ${verdict}${row.label}`);
  }
  const more = groups.total - groups.rows.length;
  if (more > 0) lines.push(`  ... and ${formatCount(more)} more`);
  return lines;
}

/** A step where it is known what one is, else a second. */
function rateText(row: GroupRow): string {
  return row.bytesPerStep > 0 ? `+${formatBytes(row.bytesPerStep)}/step` : formatRate(row.growth);
}

function warningLines({ info, outOfMemory }: Snapshot, final: boolean): string[] {
  const lines: string[] = [];
  for (const { requestedBytes, device, layer, line, liveBytes } of outOfMemory.slice(-5)) {
    const what = `${formatBytes(requestedBytes)} on ${deviceName(device, layer)} at ${line}`;
    lines.push(`OUT OF MEMORY: ${what}; ${formatBytes(liveBytes)} were alive`);
  }
  const counted = countedText(info);
  if (counted !== null) lines.push(counted);
  const causes = Object.entries(info.lost.byCause).map(([cause, count]) => `${cause} ${formatCount(count)}`);
  const { events } = info.lost;
  if (events > 0)
    lines.push(`LOST: ${formatPlural(events, 'event')} (${causes.join(', ')}); totals may be wrong by these`);
  else if (causes.length > 0) lines.push(`INCOMPLETE: ${causes.join(', ')}; no event is missing`);
  const notes = info.processes.flatMap(process => process.notes).filter(note => isTold(note, final));
  for (const text of new Set(notes.map(note => note.text))) lines.push(`NOTE: ${text}`);
  if (final && info.events > 0) {
    const processes = formatPlural(info.processes.length, 'process', 'processes');
    lines.push(`${formatPlural(info.events, 'event')} in ${formatDuration(info.durationNs)}, ${processes}`);
  }
  return lines.length > 0 ? ['', ...lines] : [];
}
