// What a terminal shows while a program runs, made for its size: nothing is longer or lower than it is.
import { deviceName, formatBytes, formatCount, formatDuration, formatPlural, LAYER_NAMES } from '../../text/format';
import type { SiteSort, TraceInfo, TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { liveBytes } from '../../analysis/ledger/ledgerLayer';
import { fitEnd, wrapTightly } from './fit';
import { readGroups } from './snapshot';
import { groupRows, missingLines } from './table';
import { findingText, stepsText } from './tableFindings';

/** What of the lines is shown, in which order. */
export interface LiveChoice {
  sort: LiveSort;
  filter: string;
  /** Rows above the first that is shown. */
  from: number;
}
export type LiveSort = keyof typeof SORTS;
export interface LiveSize {
  rows: number;
  columns: number;
}
export interface LiveTitle {
  /** What is watched, in words. */
  title: string;
  /** null: the title has it. */
  pid: number | null;
  elapsedNs: number;
}
export interface LiveView {
  lines: LiveLine[];
  /** Rows of the list that there are, and that are shown at once. */
  rows: number;
  page: number;
}
export interface LiveLine {
  text: string;
  /** How it stands out where the terminal can show that. */
  style: 'plain' | 'strong' | 'warning' | 'alarm';
}

const SORTS = {
  bytes: { sort: 'liveBytes', descending: true },
  growth: { sort: 'growth', descending: true },
  blocks: { sort: 'liveCount', descending: true },
  line: { sort: 'label', descending: false },
} as const satisfies Record<string, { sort: SiteSort; descending: boolean }>;
const MOST_DEVICES = 8;
/** Rows of the list that findings and cards leave room for. */
const LEAST_PAGE = 3;
const WIDEST_BAR = 40;

/** From the top: the program, a bar for each card, what is missing, what was found, what is alive by line. */
export function liveView(
  source: TraceSource,
  verdicts: Verdicts,
  { title, pid, elapsedNs, columns, rows, choice }: LiveSize & LiveTitle & { choice: LiveChoice },
): LiveView {
  const info = source.info();
  const process = pid === null ? '' : ` · PID ${pid}`;
  const name = `${formatDuration(elapsedNs)}${process} · ${fitEnd(title, Math.floor(columns / 2))}`;
  const head: LiveLine[] = [{ text: titleLine(name, info, verdicts, columns), style: 'strong' }];
  head.push(...plain([...cardLines(info, columns), ...atMost(wrapAll(missingLines(info, false), columns), 3)]));
  const { filter, from } = choice;
  const left = rows - head.length - 1;
  const order = { groupBy: 'line', ...SORTS[choice.sort] } as const;
  const all = readGroups(source, verdicts, { ...order, filter, from, to: from + Math.max(0, left) });
  // Findings get half of the screen, and the rows that the list leaves blank.
  const half = Math.min(left - LEAST_PAGE, Math.max(4, Math.floor(rows / 2) - head.length));
  const found = findingsIn(verdicts, columns, Math.max(half, left - Math.max(1, all.total)));
  const page = Math.max(0, left - found.length);
  const groups = { ...all, rows: all.rows.slice(0, page) };
  const list = `LIVE BY LINE (${LAYER_NAMES[groups.layer]})${listText(groups.total, page, choice)}`;
  const lines = [...head, ...found, { text: fitEnd(list, columns), style: 'strong' as const }];
  lines.push(...plain(groupRows(groups, columns)));
  if (groups.total === 0 && filter !== '')
    lines.push(...plain([fitEnd(`No line matches "${filter}". Esc clears the filter.`, columns)]));
  return { lines: lines.slice(0, rows), rows: groups.total, page };
}

/** What does not fit is left out whole. */
function titleLine(title: string, info: TraceInfo, verdicts: Verdicts, columns: number): string {
  const facts: string[] = [];
  if (verdicts.steps.source === 'time') facts.push('no training steps yet');
  else if (verdicts.steps.source !== 'none') facts.push(stepsText(verdicts));
  if (info.processes.some(process => process.simulated)) facts.push('simulated GPU');
  const line = facts.reduce((text, fact) => {
    const longer = `${text} · ${fact}`;
    return longer.length <= columns ? longer : text;
  }, title);
  return fitEnd(line, columns);
}

/**
 * `gpu_0 [|||::    ] tensors 2 GiB, driver 3 GiB, of 80 GiB`; `:` is what the driver gave besides. The bar is the card's
 * whole memory: where that is not known there is none.
 */
function cardLines(info: TraceInfo, columns: number): string[] {
  const seen = [...new Set(info.totals.filter(({ device }) => device >= 0).map(({ device }) => device))].sort(
    (a, b) => a - b,
  );
  const lines = seen.slice(0, MOST_DEVICES).map(device => {
    const [tensor, driver] = [liveBytes(info, 'tensor', { device }), liveBytes(info, 'driver', { device })];
    const total = info.devices.find(({ index }) => index === device)?.totalBytes ?? 0;
    const name = `${deviceName(device, 'driver')} `;
    const text = cardText({ tensor, driver, total }, columns - name.length);
    const width = Math.min(WIDEST_BAR, columns - name.length - text.length - 3);
    const drawn = total > 0 && width > 4;
    return (
      name + (drawn ? `${bar(width, tensor, Math.max(tensor, driver), Math.max(total, tensor, driver))} ` : '') + text
    );
  });
  if (seen.length > MOST_DEVICES) lines.push(`... and ${formatCount(seen.length - MOST_DEVICES)} more GPUs`);
  return lines.map(line => fitEnd(line, columns));
}

/** A driver that gave nothing beside tensors has no line: it was not seen. What does not fit is left out whole. */
function cardText(bytes: { tensor: number; driver: number; total: number }, columns: number): string {
  const [tensor, driver, total] = [formatBytes(bytes.tensor), formatBytes(bytes.driver), formatBytes(bytes.total)];
  const size = bytes.total > 0 ? `, of ${total}` : '';
  const held = bytes.tensor > 0 ? `tensors ${tensor}` : `driver ${driver}`;
  const both = bytes.tensor > 0 && bytes.driver > 0 ? [`${held}, driver ${driver}`] : [];
  const ways = [...both.map(text => text + size), ...both, held + size, held];
  return ways.find(text => text.length <= columns) ?? held;
}

function bar(width: number, tensor: number, driver: number, total: number): string {
  const cells = (bytes: number): number => (bytes > 0 ? Math.max(1, Math.round((width * bytes) / total)) : 0);
  const inner = Math.min(cells(tensor), width);
  return `[${('|'.repeat(inner) + ':'.repeat(Math.max(0, Math.min(cells(driver), width) - inner))).padEnd(width)}]`;
}

/** As many findings as there is room for, worst first; a headline before the advice of the one above it. */
function findingsIn({ findings, steps }: Verdicts, columns: number, room: number): LiveLine[] {
  if (findings.length === 0)
    return plain([steps.source === 'none' ? 'No GPU memory has been allocated yet.' : 'No findings yet.']);
  const lines: LiveLine[] = [];
  let fits = 0;
  for (const finding of findings) {
    const [head = '', ...advice] = findingText(finding, { live: true });
    const left = room - lines.length - (fits + 1 < findings.length ? 1 : 0);
    const headline = wrapTightly(head, columns);
    if (headline.length > left && fits > 0) break;
    const style = finding.verdict === 'leak' || finding.verdict === 'oom' ? 'alarm' : 'warning';
    lines.push(...headline.slice(0, Math.max(1, left)).map(text => ({ text, style }) as const));
    // Where not all fits, what holds it and what to do.
    const ways = [advice, [...advice.slice(0, 1), ...advice.slice(1).slice(-1)], advice.slice(-1)];
    const more = ways.map(way => wrapAll(way, columns)).find(way => headline.length + way.length <= left);
    lines.push(...plain(more ?? []));
    fits++;
  }
  if (fits < findings.length) lines.push(...plain([`... and ${formatPlural(findings.length - fits, 'more finding')}`]));
  return lines;
}

function listText(total: number, page: number, { sort, filter, from }: LiveChoice): string {
  const parts = [`by ${sort}`];
  if (filter !== '') parts.push(`filter: ${filter}`);
  if (total > page || from > 0)
    parts.push(
      `${formatCount(Math.min(from + 1, total))} to ${formatCount(Math.min(from + page, total))} of ${formatCount(total)}`,
    );
  return `, ${parts.join(' · ')}`;
}

function wrapAll(lines: readonly string[], columns: number): string[] {
  return lines.flatMap(line => wrapTightly(line, columns));
}

function atMost(lines: string[], most: number): string[] {
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `... and ${formatCount(lines.length - most + 1)} more lines at the end`];
}

function plain(lines: readonly string[]): LiveLine[] {
  return lines.map(text => ({ text, style: 'plain' }));
}
