// The columns of the table, in reading order.
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../extension/protocol/format';
import type { SiteSort } from '../../../extension/protocol/trace';
import type { Row } from './rows';

export type ColumnId =
  | 'site'
  | 'live'
  | 'self'
  | 'step'
  | 'count'
  | 'peak'
  | 'allocations'
  | 'frees'
  | 'allocated'
  | 'growth'
  | 'thread'
  | 'device'
  | 'spark';
/** What can be shown or left out; the verdict stands beside the name of a row. */
export type Choice = Exclude<ColumnId, 'site' | 'self'> | 'verdict';

export interface Column {
  id: ColumnId;
  title: string;
  /** What a long title would say. */
  hint: string;
  /** null: its header does not sort. */
  sort: SiteSort | null;
  /** Room in pixels with one line a row, and with two; 0: takes what is left. */
  widths: readonly [wide: number, narrow: number];
  /** As it is shown. */
  text(row: Row): string;
  /** As it is copied: numbers without units. */
  value(row: Row): string | number;
}

/** A column of counts or bytes; what is not known (NaN) is an empty cell. */
function figures(
  head: Pick<Column, 'id' | 'title' | 'hint' | 'sort' | 'widths'>,
  format: (value: number) => string,
  value: (row: Row) => number,
): Column {
  const known = <T>(row: Row, use: (figure: number) => T): T | '' => {
    const figure = value(row);
    return Number.isNaN(figure) ? '' : use(figure);
  };
  return { ...head, text: row => known(row, format), value: row => known(row, figure => figure) };
}

const words = (head: Omit<Column, 'text' | 'value'>, text: (row: Row) => string): Column => {
  return { ...head, text, value: text };
};

export const COLUMNS: readonly Column[] = [
  words({ id: 'site', title: t('Line'), hint: t('What allocated'), sort: 'label', widths: [0, 0] }, row => row.title),
  figures(
    { id: 'live', title: t('Alive'), hint: t('Bytes alive now'), sort: 'liveBytes', widths: [92, 92] },
    formatBytes,
    row => row.liveBytes,
  ),
  figures(
    { id: 'self', title: t('Self'), hint: t('Of these, by the frame itself'), sort: null, widths: [92, 92] },
    formatBytes,
    row => row.tree?.selfBytes ?? 0,
  ),
  {
    id: 'step',
    title: t('A step'),
    hint: t('Growth of what stays, in bytes a training step'),
    sort: null,
    widths: [84, 92],
    text: row => (row.bytesPerStep > 0 ? `+${formatBytes(row.bytesPerStep)}` : '·'),
    value: row => row.bytesPerStep,
  },
  figures(
    { id: 'count', title: t('Blocks'), hint: t('Blocks alive now'), sort: 'liveCount', widths: [72, 46] },
    formatCount,
    row => row.liveCount,
  ),
  figures(
    { id: 'peak', title: t('Peak'), hint: t('Most bytes alive at a time'), sort: 'peakBytes', widths: [84, 76] },
    formatBytes,
    row => row.peakBytes,
  ),
  figures(
    {
      id: 'allocations',
      title: t('Allocations'),
      hint: t('Allocations so far'),
      sort: 'allocations',
      widths: [84, 76],
    },
    formatCount,
    row => row.allocations,
  ),
  figures(
    { id: 'frees', title: t('Frees'), hint: t('Frees so far'), sort: 'frees', widths: [76, 70] },
    formatCount,
    row => row.frees,
  ),
  figures(
    {
      id: 'allocated',
      title: t('Allocated'),
      hint: t('All bytes ever allocated'),
      sort: 'allocatedBytes',
      widths: [88, 76],
    },
    formatBytes,
    row => row.allocatedBytes,
  ),
  {
    id: 'growth',
    title: t('Growth'),
    hint: t('Slope of the live bytes over the recent past'),
    sort: 'growth',
    widths: [104, 98],
    text: row => row.growth,
    value: row => (Number.isNaN(row.growthPerSecond) ? '' : row.growthPerSecond),
  },
  words(
    { id: 'thread', title: t('Thread'), hint: t('Thread that allocated'), sort: 'thread', widths: [0, 0] },
    row => row.thread,
  ),
  words(
    { id: 'device', title: t('Device'), hint: t('Device of the memory'), sort: 'device', widths: [48, 40] },
    row => row.device,
  ),
  words(
    { id: 'spark', title: t('Run'), hint: t('Live bytes over the run so far'), sort: null, widths: [56, 48] },
    () => '',
  ),
];

/** What the menu of columns names, in the order of the columns. */
export const CHOICES: readonly (readonly [Choice, string])[] = [
  ['live', t('Bytes alive')],
  ['step', t('Bytes a step')],
  ['count', t('Blocks alive')],
  ['peak', t('Peak')],
  ['allocations', t('Allocations')],
  ['frees', t('Frees')],
  ['allocated', t('Allocated bytes')],
  ['growth', t('Growth a second')],
  ['thread', t('Thread')],
  ['device', t('Device')],
  ['verdict', t('Verdict')],
  ['spark', t('Line over the run')],
];
export const DEFAULT_CHOICE: readonly Choice[] = ['live', 'step', 'count', 'thread', 'device', 'verdict', 'spark'];

/** Of a tree only these have figures. */
const TREE_COLUMNS: readonly ColumnId[] = ['site', 'live', 'self', 'count'];

/** The columns to show. A single device needs no column. */
export function chosenColumns(choice: readonly Choice[], tree: boolean, devices: number): Column[] {
  if (tree) return COLUMNS.filter(({ id }) => TREE_COLUMNS.includes(id));
  return COLUMNS.filter(
    ({ id }) => id === 'site' || (id !== 'self' && choice.includes(id) && (id !== 'device' || devices > 1)),
  );
}
