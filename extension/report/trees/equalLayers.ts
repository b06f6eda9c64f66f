import { formatBytes, formatCount } from '../../text/format';
import { CATEGORIES } from '../../protocol/trace';
import { groupBy } from '../../base/maps';
import { sum } from '../../analysis/series/statistics';
import type { CategoryBytes } from './modules';

interface Layer {
  label: string;
  liveBytes: number;
  liveCount: number;
  categories: CategoryBytes;
}

/** Fewer stay rows of their own. */
const FEWEST = 3;
const NUMBER = /(?<=^|\.)\d+(?=\.|$)/g;
/** Parts of a list of numbers: `0–3,5`; more parts are printed as several. */
const MOST_PARTS = 4;

/**
 * Rows of modules of which one number differs, and which hold the same, as one row, biggest first: `layers.0–11.mlp.0` instead of twelve
 * rows, and of experts in layers the layers too. A layer that differs from the others stays a row of its own.
 */
export function foldEqualLayers<Row extends Layer>(rows: readonly Row[]): Row[] {
  let folded = rows.map(row => ({ row, path: row.label, layers: 1 }));
  for (let before = Infinity; folded.length < before;) {
    before = folded.length;
    folded = foldOnce(folded);
  }
  return folded
    .map(({ row, path, layers }) =>
      layers === 1
        ? row
        : { ...row, label: `${path} (${formatCount(layers)} of ${formatBytes(row.liveBytes / layers)})` },
    )
    .sort((a, b) => b.liveBytes - a.liveBytes);
}

interface Folded<Row> {
  row: Row;
  path: string;
  layers: number;
}

/** By that one number of each path by which most are equal. */
function foldOnce<Row extends Layer>(rows: readonly Folded<Row>[]): Folded<Row>[] {
  const keysOf = ({ row, path, layers }: Folded<Row>): string[] =>
    [...path.matchAll(NUMBER)].map(({ 0: number, index }) =>
      [`${path.slice(0, index)}*${path.slice(index + number.length)}`, layers, row.liveBytes, row.liveCount].join(' '),
    );
  const sizes = new Map<string, number>();
  for (const key of rows.flatMap(keysOf)) sizes.set(key, (sizes.get(key) ?? 0) + 1);
  const sizeOf = (key: string): number => sizes.get(key) ?? 0;
  const chosen = groupBy(rows, row => keysOf(row).sort((a, b) => sizeOf(b) - sizeOf(a))[0] ?? row.path);
  return [...chosen.values()].flatMap(same => (same.length < FEWEST ? same : [united(same)]));
}

function united<Row extends Layer>(same: readonly Folded<Row>[]): Folded<Row> {
  const [{ row, path, layers }] = same as [Folded<Row>];
  const paths = same.map(one => one.path.split('.'));
  const at = path.split('.').findIndex((part, i) => paths.some(parts => parts[i] !== part));
  const numbers = paths.map(parts => Number(parts[at])).sort((a, b) => a - b);
  const categories = CATEGORIES.map(category => [category, sum(same.map(one => one.row.categories[category] ?? 0))]);
  return {
    row: {
      ...row,
      liveBytes: row.liveBytes * same.length,
      liveCount: row.liveCount * same.length,
      categories: Object.fromEntries(categories) as CategoryBytes,
    },
    path: path
      .split('.')
      .map((part, i) => (i === at ? rangesOf(numbers) : part))
      .join('.'),
    layers: layers * same.length,
  };
}

/** `0–3,5` */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  if (ranges.length > MOST_PARTS) return '*';
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(',');
}
