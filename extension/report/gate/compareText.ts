import type { ComparedRow, Comparison } from '../../protocol/requests/compareRequests';
import { baseName, fileLine, formatBytes } from '../../text/format';
import type { Layer } from '../../protocol/trace';
import { endingWords } from '../tables/ending';

/** One of the two moments. */
export interface Side {
  file: string;
  /** null: the end. */
  atNs: number | null;
  /** That moment in words. */
  when?: string | null;
  /** What stands there instead of the end, where no moment was named; step null: the peak, or the failed allocation. */
  shownMoment?: { atSeconds: number; step: number | null; failed?: true; liveBytes: number; leftBytes: number };
}

const WIDTH = 12;

/** A comparison as lines for a terminal. */
export function comparisonText(comparison: Comparison, layer: Layer, { a, b }: { a: Side; b: Side }): string[] {
  const { rows, total, bytesA, bytesB, added, gone, renamed } = comparison;
  const changed = rows.filter(row => row.bytesA !== row.bytesB || row.countA !== row.countB);
  const changes = added + gone > 0 ? `, ${added} new, ${gone} gone` : '';
  const lines = [
    `A  ${sideText(a)}`,
    `B  ${sideText(b)}`,
    `${layer} layer: ${formatBytes(bytesA)} -> ${formatBytes(bytesB)} (${signed(bytesB - bytesA)})${changes}`,
    ...(renamed === null
      ? []
      : [`${baseName(renamed.to)} in B is treated as ${baseName(renamed.from)} in A (renamed).`]),
    '',
    `${'DIFFERENCE'.padStart(WIDTH)} ${'A'.padStart(WIDTH)} ${'B'.padStart(WIDTH)}        `,
    ...changed.map(rowText),
  ];
  if (changed.length === 0) lines.push('There are no differences.');
  if (total > rows.length) lines.push(`... and ${total - rows.length} more rows, with smaller differences`);
  return lines.map(line => line.trimEnd());
}

function sideText({ file, when, shownMoment }: Side): string {
  if (shownMoment) {
    const { when: shown, reason } = endingWords(shownMoment);
    return `${file} ${shown}, because ${reason}`;
  }
  return when ? `${file} at ${when}` : `${file}, its end`;
}

function rowText(row: ComparedRow): string {
  const word = row.countA === 0 ? 'new' : row.countB === 0 ? 'gone' : '';
  const columns = [
    signed(row.bytesB - row.bytesA),
    row.countA === 0 ? '-' : formatBytes(row.bytesA),
    row.countB === 0 ? '-' : formatBytes(row.bytesB),
  ].map(text => text.padStart(WIDTH));
  const name = row.file === '' ? '(no Python line)' : `${fileLine(row.file, row.line)} ${row.function}`;
  const moved = row.movedFrom === null ? '' : ` (line ${row.movedFrom} in A)`;
  const stack = row.stack.slice(1).map(frame => ` < ${frame}`);
  return `${columns.join(' ')} ${word.padEnd(4)}  ${row.stack[0] ?? name}${stack.join('')}${moved}`;
}

function signed(bytes: number): string {
  return `${bytes > 0 ? '+' : ''}${formatBytes(bytes)}`;
}
