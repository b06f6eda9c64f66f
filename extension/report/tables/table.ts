import { rankText } from '../../protocol/rank';
import { isSnapshot, isShown } from '../../protocol/notes';
import {
  deviceName,
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
  formatRate,
  formatTimestamp,
  lossTexts,
  LAYER_NAMES,
} from '../../text/format';
import { GROWING, type SiteState } from '../../protocol/verdicts';
import { LAYERS, type ProcessInfo, type Totals, type TraceInfo } from '../../protocol/trace';
import { sum } from '../../analysis/series/statistics';
import { attachedLate, beforeAttachFrees } from './attached';
import { countedText } from '../../analysis/findings/kinds/outOfMemory';
import { poolTexts } from '../../analysis/ledger/pools';
import type { GroupRow, Groups, ProcessRows, Rows, Snapshot } from './snapshot';
import { cellText } from '../../analysis/findings/kinds/cell';
import { columns, lengthOf } from '../../text/textColumns';
import { fitLabel, wrapLine } from './fit';
import { WORDS } from '../../analysis/words';
import { findingLines, type OomFiles } from './tableFindings';

export interface TableOptions {
  /** Printed in the first line, to seconds. */
  now: Date;
  /** Characters that a line has; null, absent: no matter how many. */
  width?: number | null;
  /** Findings and processes that are printed, 10 and all if absent; of more, how many. */
  findings?: number;
  processes?: number;
  /** How the program ended, in a sentence; null, absent: as it should, or unknown. */
  ended?: string | null;
  /** Why there may be no event. */
  nothing?: string;
  oomFiles?: OomFiles;
}

const RULE = '-'.repeat(20);
const LEAST_LABEL = 16;
const FINDINGS = 10;
const CELLS = 4;

/** The lines of the table: what is alive by line, process by process the blocks and totals, and last, to stay on the screen, what was found. */
export function renderTable(snapshot: Snapshot, options: TableOptions): string[] {
  const { info } = snapshot;
  const { width = null, findings = FINDINGS } = options;
  const lines = [`${RULE} ${formatTimestamp(options.now)} ${RULE}`];
  if (options.ended) lines.push(options.ended);
  const simulated = info.processes.some(process => process.simulated);
  if (simulated) lines.push('The GPU is simulated.');
  lines.push(...incompleteLines(info));
  if (info.totals.length === 0 && info.lost.events > 0) lines.push('There are no live GPU allocations to show.');
  else if (info.totals.length === 0)
    lines.push('No GPU allocations were recorded.', ...(options.nothing === undefined ? [] : [options.nothing]));
  if (snapshot.peak.length > 0) lines.push(...snapshot.peak, '');
  if (snapshot.asOf !== null) lines.push(`${snapshot.asOf}.`, '');
  if (info.totals.length > 0) lines.push(...groupLines(snapshot.groups, width), '', ...cellLines(snapshot, width));
  lines.push(...processesLines(snapshot, options.processes ?? Infinity, width));
  lines.push(...warningLines(snapshot));
  while (lines.at(-1) === '') lines.pop();
  const found = findingLines(snapshot, findings, options.oomFiles);
  if (found.length > 0) lines.push('', ...found);
  return width === null ? lines : lines.flatMap(line => wrapLine(line, width));
}

function incompleteLines(info: TraceInfo): string[] {
  return fileNotes(info).map(text => `INCOMPLETE: ${text}`);
}

/** What is wrong with the file itself, in sentences: the reader's own notes. */
export function fileNotes({ processes }: TraceInfo): string[] {
  const own = processes.flatMap(({ notes }) => notes).filter(({ code }) => code === 0);
  return [...new Set(own.map(({ text }) => text))];
}

function processesLines(snapshot: Snapshot, processes: number, width: number | null): string[] {
  const all = snapshot.processes.filter(entry => entry.totals.length > 0);
  const lines = all
    .slice(0, processes)
    .flatMap((entry, i) => [...(i > 0 ? [''] : []), ...processLines(entry, snapshot, width)]);
  const more = all.slice(processes);
  if (more.length > 0)
    lines.push(
      `... and ${formatPlural(more.length, 'more process', 'more processes')}: ${formatBytes(sum(more.map(liveBytes)))}`,
    );
  return lines;
}

function processLines(entry: ProcessRows, snapshot: Snapshot, width: number | null): string[] {
  const lines: string[] = [];
  for (const thread of entry.threads) {
    const { name, tid } = thread.thread;
    lines.push(isSnapshot(entry.process) ? `  ${name}` : `  ${name}:${tid}`);
    lines.push(...allocationLines(thread, width));
  }
  if (entry.moreThreads > 0) lines.push(`  ... and ${formatPlural(entry.moreThreads, 'more thread')}`);
  if (entry.host.rows.length > 0) lines.push(`  ${LAYER_NAMES.host}`, ...allocationLines(entry.host, width));
  if (lines.length > 0) lines.push('');
  return [processTitle(entry.process), ...lines, ...totalLines(entry, snapshot)];
}

function processTitle(process: ProcessInfo): string {
  if (isSnapshot(process)) return `MEMORY SNAPSHOT: ${process.command.join(' ')}`;
  return `PID: ${process.pid} / UID: ${process.uid}${rankText(process)}`;
}

function allocationLines(rows: Rows, width: number | null): string[] {
  const lines = rows.rows.map(({ address, device, bytes, line }) => {
    const place = `0x${address.toString(16)}${device < 0 ? '' : `:${deviceName(device, 'driver')}`}`;
    return labelled(`    ${place}: ${formatBytes(bytes)}  `, line, width);
  });
  if (rows.more > 0) lines.push(`    ... and ${formatCount(rows.more)} more: ${formatBytes(rows.moreBytes)}`);
  return lines;
}

function labelled(before: string, label: string, width: number | null): string {
  return before + (width === null ? label : fitLabel(label, Math.max(LEAST_LABEL, width - lengthOf(before))));
}

/** Layers are named beside each other and never added: tensors live inside what the driver handed out. */
function totalLines(entry: ProcessRows, { info, verdicts, pools }: Snapshot): string[] {
  const lines = [`TOTAL LIVE: ${formatBytes(liveBytes(entry))}`];
  const order = ({ layer }: Totals): number => LAYERS.indexOf(layer);
  for (const total of entry.totals.toSorted((a, b) => order(a) - order(b) || a.device - b.device)) {
    const device = total.layer === 'host' ? '' : `, ${deviceName(total.device, total.layer)}`;
    const where = `${LAYER_NAMES[total.layer]}${device}`;
    const before = beforeAttachFrees(info, total);
    const blocks =
      before > 0
        ? `, ${formatPlural(before, 'free')} of blocks from before ${attachedLate(info, total) ? 'attaching' : 'recording'}`
        : '';
    lines.push(`  ${where}: ${totalText(total)}${blocks}`);
    const own = verdicts.ledger.find(one => one.process === entry.process.index && one.device === total.device);
    const pending = own?.pending.bytes ?? 0;
    if (total.layer === 'tensor' && pending > 0)
      lines.push(`  waiting for a stream${device}: ${formatBytes(pending)} freed, still in use by another stream`);
    const reserved = pools.filter(one => one.process === entry.process.index && one.device === total.device);
    if (total.layer === 'tensor') lines.push(...poolTexts(reserved).map(text => `    ${text}`));
    if (total.layer === 'driver') lines.push(...libraryLines(total, verdicts));
  }
  return lines;
}

function liveBytes({ totals, layer }: ProcessRows): number {
  return sum(totals.map(total => (total.layer === layer ? total.liveBytes : 0)));
}

/** The library that took it from the driver, apart from a framework's cache; nothing where no library is known. */
function libraryLines({ process, device }: Totals, { ledger }: Snapshot['verdicts']): string[] {
  const libraries = ledger.find(entry => entry.process === process && entry.device === device)?.libraries ?? [];
  if (libraries.every(({ path }) => path === '')) return [];
  return libraries.map(({ name, bytes, bytesPerStep }) => {
    const grows = bytesPerStep !== null && bytesPerStep >= 1 ? ` (+${formatBytes(bytesPerStep)} per step)` : '';
    return `    ${name}: ${formatBytes(bytes)}${grows}`;
  });
}

function totalText(total: Totals): string {
  const parts = [
    `${formatBytes(total.liveBytes)} in ${formatPlural(total.liveCount, 'block')}`,
    `peak ${formatBytes(total.peakBytes)}`,
    formatPlural(total.allocations, 'allocation'),
    formatPlural(total.frees, 'free'),
  ];
  if (total.failed > 0) parts.push(`${formatCount(total.failed)} failed`);
  return parts.join(', ');
}

/** What cells of a notebook left, most first. */
function cellLines({ cells, groups }: Snapshot, width: number | null): string[] {
  const shown = cells.slice(0, Math.min(CELLS, groups.rows.length));
  if (shown.length === 0) return [];
  const facts = columns(
    shown.map(({ bytes, count }) => [formatBytes(bytes), `in ${formatCount(count)}`]),
    [true, false],
  );
  const more = cells.length > shown.length ? [`  ... and ${formatCount(cells.length - shown.length)} more`] : [];
  const lines = shown.map((cell, i) => labelled(`  ${facts[i] ?? ''}  `, cellText(cell), width));
  return [listHead('cell', groups), ...lines, ...more, ''];
}

/** Its rows begin with bytes, and the number of blocks that they are in. */
function listHead(by: string, { layer }: Groups): string {
  return `LIVE BY ${by.toUpperCase()} (${LAYER_NAMES[layer]}): bytes in blocks`;
}

/** What is alive by line, or by another requested group, biggest first. */
function groupLines(groups: Groups, width: number | null): string[] {
  if (groups.rows.length === 0) return [];
  const more = groups.total - groups.rows.length;
  return [
    listHead(groups.by.replace('-path', ''), groups),
    ...groupRows(groups, width),
    ...(more > 0 ? [`  ... and ${formatCount(more)} more`] : []),
  ];
}

/** A line for each row, no longer than `width`: bytes, blocks, growth, what it does, and where. */
export function groupRows(groups: Groups, width: number | null): string[] {
  const facts = groups.rows.map(row => [
    formatBytes(row.liveBytes),
    `in ${formatCount(row.liveCount)}`,
    groups.bySteps ? perStep(row) : RATED.has(row.verdict ?? 'unknown') ? formatRate(row.growth) : '',
    row.verdict === null ? '' : WORDS.states[row.verdict].name,
  ]);
  return columns(facts, [true, false, false, false]).map((text, i) =>
    labelled(`  ${text}  `, groups.rows[i]?.label ?? '', width),
  );
}

/** States whose rate is printed: the others do not grow. */
const RATED: ReadonlySet<SiteState> = new Set([...GROWING, 'unknown', 'before-attach']);

function perStep({ bytesPerStep }: GroupRow): string {
  return bytesPerStep > 0 ? `+${formatBytes(bytesPerStep)}/step` : '';
}

function warningLines({ info }: Snapshot): string[] {
  const lines: string[] = [];
  const counted = countedText(info);
  if (counted !== null) lines.push(counted);
  lines.push(...missingLines(info, true));
  if (info.events > 0) {
    const processes = formatPlural(info.processes.length, 'process', 'processes');
    lines.push(`${formatPlural(info.events, 'event')} in ${formatDuration(info.durationNs)}, ${processes}`);
  }
  return lines.length > 0 ? ['', ...lines] : [];
}

/** What is missing from the trace; `final`: also how it was made. */
export function missingLines(info: TraceInfo, final: boolean): string[] {
  const causes = lossTexts(info.lost);
  const { events } = info.lost;
  const lines: string[] = [];
  if (!final) lines.push(...incompleteLines(info));
  if (events > 0) lines.push(`DROPPED EVENTS: ${formatCount(events)} (${causes.join(', ')}); totals may be wrong`);
  else if (causes.length > 0)
    lines.push(`INCOMPLETE: some events have no call stack or no name (${causes.join(', ')}). No events are missing.`);
  const notes = info.processes.flatMap(one => one.notes).filter(note => isShown(note, final) && note.code !== 0);
  return [...lines, ...[...new Set(notes.map(note => note.text))].map(text => `NOTE: ${text}`)];
}
