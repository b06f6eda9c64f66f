import { formatBytes, formatCount } from '../../protocol/format';
import { CATEGORIES } from '../../protocol/steps';
import { groupBy } from '../groups';
import { sum } from '../series/statistics';
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

/**
 * Rows of modules of which only the numbers differ, and which hold the same, as one row, biggest first: `layers.0–11.mlp` instead of
 * twelve rows. A layer that differs from the others stays a row of its own.
 */
export function foldEqualLayers<Row extends Layer>(rows: readonly Row[]): Row[] {
  const same = groupBy(rows, ({ label, liveBytes, liveCount }) =>
    [label.replace(NUMBER, '*'), liveBytes, liveCount].join(' '),
  );
  return [...same.values()]
    .flatMap(layers => (layers.length < FEWEST ? layers : [folded(layers)]))
    .sort((a, b) => b.liveBytes - a.liveBytes);
}

function folded<Row extends Layer>(layers: Row[]): Row {
  const [first] = layers as [Row];
  const each = `${formatCount(layers.length)} of ${formatBytes(first.liveBytes)}`;
  return {
    ...first,
    label: `${rangeOf(layers.map(({ label }) => label))} (${each})`,
    liveBytes: first.liveBytes * layers.length,
    liveCount: first.liveCount * layers.length,
    categories: Object.fromEntries(
      CATEGORIES.map(category => [category, sum(layers.map(row => row.categories[category] ?? 0))]),
    ),
  };
}

/** `layers.0–11.mlp`; `layers.*.mlp` where numbers lie between them that are not meant, or where there are several. */
function rangeOf(labels: string[]): string {
  const [first = ''] = labels;
  const pattern = first.replace(NUMBER, '*');
  if (pattern.split('*').length !== 2) return pattern;
  const numbers = labels.map(label => Number(label.match(NUMBER)?.[0])).sort((a, b) => a - b);
  const [least = 0, most = 0] = [numbers[0], numbers.at(-1)];
  return most - least + 1 === numbers.length ? pattern.replace('*', `${least}–${most}`) : pattern;
}
