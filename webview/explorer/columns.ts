// The columns of the table, in reading order.
import { formatBytes, formatCount } from '../../extension/protocol/format';
import type { GroupBy, SiteSort } from '../../extension/protocol/trace';
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

/** A column of counts or bytes. */
function figures(
  head: Pick<Column, 'id' | 'title' | 'hint' | 'sort' | 'widths'>,
  format: (value: number) => string,
  value: (row: Row) => number,
): Column {
  return { ...head, text: row => format(value(row)), value };
}

const words = (head: Omit<Column, 'text' | 'value'>, text: (row: Row) => string): Column => {
  return { ...head, text, value: text };
};

export const COLUMNS: readonly Column[] = [
  words({ id: 'site', title: 'Line', hint: 'What allocated', sort: 'label', widths: [0, 0] }, row => row.title),
  figures(
    { id: 'live', title: 'Alive', hint: 'Bytes alive now', sort: 'liveBytes', widths: [92, 92] },
    formatBytes,
    row => row.liveBytes,
  ),
  figures(
    { id: 'self', title: 'Self', hint: 'Of these, by the frame itself', sort: null, widths: [92, 92] },
    formatBytes,
    row => row.tree?.selfBytes ?? 0,
  ),
  {
    id: 'step',
    title: 'A step',
    hint: 'Growth of what stays, in bytes a training step',
    sort: null,
    widths: [84, 92],
    text: row => (row.bytesPerStep > 0 ? `+${formatBytes(row.bytesPerStep)}` : '·'),
    value: row => row.bytesPerStep,
  },
  figures(
    { id: 'count', title: 'Blocks', hint: 'Blocks alive now', sort: 'liveCount', widths: [72, 46] },
    formatCount,
    row => row.liveCount,
  ),
  figures(
    { id: 'peak', title: 'Peak', hint: 'Most bytes alive at a time', sort: 'peakBytes', widths: [84, 76] },
    formatBytes,
    row => row.peakBytes,
  ),
  figures(
    { id: 'allocations', title: 'Allocations', hint: 'Allocations so far', sort: 'allocations', widths: [84, 76] },
    formatCount,
    row => row.allocations,
  ),
  figures(
    { id: 'frees', title: 'Frees', hint: 'Frees so far', sort: 'frees', widths: [76, 70] },
    formatCount,
    row => row.frees,
  ),
  figures(
    { id: 'allocated', title: 'Allocated', hint: 'All bytes ever allocated', sort: 'allocatedBytes', widths: [88, 76] },
    formatBytes,
    row => row.allocatedBytes,
  ),
  {
    id: 'growth',
    title: 'Growth',
    hint: 'Slope of the live bytes over the recent past',
    sort: 'growth',
    widths: [104, 98],
    text: row => row.growth,
    value: row => row.growthPerSecond,
  },
  words(
    { id: 'thread', title: 'Thread', hint: 'Thread that allocated', sort: 'thread', widths: [0, 0] },
    row => row.thread,
  ),
  words(
    { id: 'device', title: 'Device', hint: 'Device of the memory', sort: 'device', widths: [48, 40] },
    row => row.device,
  ),
  words({ id: 'spark', title: 'Run', hint: 'Live bytes over the run so far', sort: null, widths: [56, 48] }, () => ''),
];

/** What the menu of columns names, in the order of the columns. */
export const CHOICES: readonly (readonly [Choice, string])[] = [
  ['live', 'Bytes alive'],
  ['step', 'Bytes a step'],
  ['count', 'Blocks alive'],
  ['peak', 'Peak'],
  ['allocations', 'Allocations'],
  ['frees', 'Frees'],
  ['allocated', 'Allocated bytes'],
  ['growth', 'Growth a second'],
  ['thread', 'Thread'],
  ['device', 'Device'],
  ['verdict', 'Verdict'],
  ['spark', 'Line over the run'],
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

export const GROUP_NAMES: Record<GroupBy, string> = {
  line: 'Line',
  site: 'Stack',
  function: 'Function',
  module: 'Module',
  thread: 'Thread',
  process: 'Process',
  device: 'Device',
  category: 'Category',
};

/** Heading of the list, as "Alive by line". */
export function listTitle(groupBy: GroupBy): string {
  return `Alive by ${GROUP_NAMES[groupBy].toLowerCase()}`;
}
