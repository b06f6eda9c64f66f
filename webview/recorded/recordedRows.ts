// Windows of rows as the engine gives them: filtered, in an order, from here to there.
import { t } from '@vscode/l10n';
import type { AllocationQuery, AllocationWindow, SiteQuery, SiteWindow } from '../../extension/protocol/trace';

type Column = string[] | (ArrayLike<number | bigint> & { subarray(from: number, to: number): unknown });

/** These rows of a window, whose columns may have several values a row. */
export function picked<W extends { rows: number }>(window: W, rows: readonly number[]): W {
  const columns = Object.entries(window).map(([name, column]: [string, unknown]) => {
    if (typeof column !== 'object' || column === null) return [name, name === 'rows' ? rows.length : column];
    const values = column as Column;
    if (Array.isArray(values)) return [name, rows.map(row => values[row])];
    const each = window.rows === 0 ? 1 : values.length / window.rows;
    const made = new (values.constructor as Float64ArrayConstructor)(rows.length * each);
    rows.forEach((row, at) => made.set(values.subarray(row * each, (row + 1) * each) as Float64Array, at * each));
    return [name, made];
  });
  return Object.fromEntries(columns) as W;
}

type RowQuery = Pick<SiteQuery, 'sort' | 'descending' | 'filter' | 'includeDead' | 'from' | 'to'>;

export function siteWindowOf(all: SiteWindow, query: RowQuery): SiteWindow {
  const matches = matcherOf(query.filter ?? '');
  const rows = Array.from({ length: all.rows }, (_, row) => row).filter(
    row => (query.includeDead === true || all.liveCount[row]! > 0) && matches(all, row),
  );
  const values: ArrayLike<string | number> = all[query.sort];
  const sign = query.descending ? -1 : 1;
  rows.sort((a, b) => sign * ordered(values[a]!, values[b]!));
  const sum = (column: Float64Array): number => rows.reduce((total, row) => total + column[row]!, 0);
  const window = picked(all, rows.slice(query.from, query.to));
  return { ...window, total: rows.length, sumLiveBytes: sum(all.liveBytes), sumLiveCount: sum(all.liveCount) };
}

type BlockQuery = Omit<AllocationQuery, 'layer' | 'filter' | 'address'>;

/** `address`: the block there alone. */
export function allocationWindowOf(all: AllocationWindow, query: BlockQuery, address?: bigint): AllocationWindow {
  const { from, to, sort, descending } = query;
  const limits = (['site', 'process', 'device', 'thread'] as const).filter(name => (query[name] ?? -1) >= 0);
  const rows = Array.from({ length: all.rows }, (_, row) => row).filter(
    row =>
      limits.every(name => all[name][row] === query[name]) && (address === undefined || all.address[row] === address),
  );
  const sign = descending ? -1 : 1;
  const order = { bytes: 'bytes', address: 'address', age: 'timeNs' } as const;
  const values: ArrayLike<number | bigint> = all[order[sort]];
  const oldestFirst = sort === 'age' ? -sign : sign;
  rows.sort((a, b) => (values[a]! < values[b]! ? -oldestFirst : values[a]! > values[b]! ? oldestFirst : 0));
  const sumBytes = rows.reduce((sum, row) => sum + all.bytes[row]!, 0);
  return { ...picked(all, rows.slice(from, to)), total: rows.length, sumBytes };
}

/** What is not known stands at one end. */
function ordered(a: string | number, b: string | number): number {
  if (typeof a === 'string' || typeof b === 'string') return String(a).localeCompare(String(b));
  return (Number.isNaN(a) ? -Infinity : a) - (Number.isNaN(b) ? -Infinity : b) || 0;
}

const BOUND = /^([<>]=?)(\d+(?:\.\d*)?|\.\d+)([kmgt]?)i?b?$/i;
const UNITS = ['', 'k', 'm', 'g', 't'];

/** As `SiteQuery.filter` has it, for what rows show: their texts and live bytes. */
function matcherOf(filter: string): (window: SiteWindow, row: number) => boolean {
  const words = filter.toLowerCase().trim().split(/\s+/).filter(Boolean);
  const tests = words.map((word): ((text: string, bytes: number) => boolean) => {
    if (/^age[<>]/.test(word)) return notHere();
    const [, sign, amount, unit = ''] = BOUND.exec(word) ?? [];
    if (sign === undefined) return text => text.includes(word);
    const bound = Number(amount) * 1024 ** UNITS.indexOf(unit.toLowerCase());
    if (sign.length === 2) return (_, bytes) => (sign === '>=' ? bytes >= bound : bytes <= bound);
    return (_, bytes) => (sign === '>' ? bytes > bound : bytes < bound);
  });
  return ({ file, function: name, label, library, liveBytes }, row) => {
    const text = [file[row], name[row], label[row], library[row]].join('\n').toLowerCase();
    return tests.every(test => test(text, liveBytes[row]!));
  };
}

/** Throws one sentence: the file has no answer. */
export function notHere(): never {
  throw new Error(
    t(
      'This file does not have that. It holds the end, the peak and the ends of some steps; open the trace in VS Code for the rest.',
    ),
  );
}
