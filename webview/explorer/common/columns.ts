// The columns of the table, in reading order.
import { t } from '@vscode/l10n';
import { formatBytes } from '../../../extension/text/format';
import type { SiteSort } from '../../../extension/protocol/trace';
import { FIGURES, type FigureId } from './figures.gen';
import { growthText, type Row } from './rows';

export type ColumnId = FigureId | 'site' | 'self' | 'step' | 'growth' | 'thread' | 'device' | 'spark';
/** What can be shown or left out; the verdict stands beside the name of a row. */
export type Choice = Exclude<ColumnId, 'site' | 'self'> | 'verdict';

export interface Column {
  id: ColumnId;
  title: string;
  /** The long title. */
  hint: string;
  /** In the menu of columns; absent: it stands there under another name, or not at all. */
  choice?: string;
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
  head: Omit<Column, 'text' | 'value'>,
  format: (value: number) => string,
  value: (row: Row) => number,
): Column {
  const known = <T>(row: Row, use: (figure: number) => T): T | '' => {
    const figure = value(row);
    return Number.isNaN(figure) ? '' : use(figure);
  };
  const text: Column['text'] = row => known(row, format);
  return { ...head, text, value: row => known(row, figure => figure) };
}

/** What a row grows by; empty where it does not. */
export const stepText = (bytesPerStep: number): string => (bytesPerStep > 0 ? `+${formatBytes(bytesPerStep)}` : '');

const words = (head: Omit<Column, 'text' | 'value'>, text: (row: Row) => string): Column => {
  return { ...head, text, value: text };
};

const [ALIVE, ...FURTHER] = FIGURES.map(({ format, field, ...head }) => figures(head, format, row => row[field]));

export const COLUMNS: readonly Column[] = [
  words({ id: 'site', title: t('Line'), hint: t('Call site'), sort: 'label', widths: [0, 0] }, row => row.title),
  ALIVE!,
  figures(
    { id: 'self', title: t('Self'), hint: t('Allocated directly in this frame'), sort: null, widths: [92, 92] },
    formatBytes,
    row => row.tree?.selfBytes ?? 0,
  ),
  figures(
    {
      id: 'step',
      title: t('Per step'),
      hint: t('Growth of live memory, in bytes per training step'),
      choice: t('Bytes per step'),
      sort: null,
      widths: [96, 80],
    },
    bytes => stepText(bytes) || '·',
    row => row.bytesPerStep,
  ),
  ...FURTHER,
  {
    id: 'growth',
    title: t('Growth'),
    hint: t('Recent growth rate of live memory'),
    choice: t('Growth per second'),
    sort: 'growth',
    widths: [116, 110],
    text: row => growthText(row.growth, row.trend),
    value: row => (Number.isNaN(row.growth) ? '' : row.growth),
  },
  words(
    {
      id: 'thread',
      title: t('Thread'),
      hint: t('Thread that allocated the memory'),
      choice: t('Thread'),
      sort: 'thread',
      widths: [0, 0],
    },
    row => row.thread,
  ),
  words(
    {
      id: 'device',
      title: t('Device'),
      hint: t('Device that holds the memory'),
      choice: t('Device'),
      sort: 'device',
      widths: [48, 40],
    },
    row => row.device,
  ),
  words(
    {
      id: 'spark',
      title: t('Run'),
      hint: t('Live memory over the run so far'),
      choice: t('Memory over the run'),
      sort: null,
      widths: [48, 48],
    },
    () => '',
  ),
];

/** What the menu of columns names, in the order of the columns; the verdict ahead of the line over the run. */
export const CHOICES: readonly (readonly [Choice, string])[] = COLUMNS.flatMap(({ id, choice }) => {
  if (choice === undefined || id === 'site' || id === 'self') return [];
  const own: [Choice, string] = [id, choice];
  return id === 'spark' ? [['verdict', t('Verdict')], own] : [own];
});
export const DEFAULT_CHOICE: readonly Choice[] = ['live', 'step', 'count', 'thread', 'device', 'verdict', 'spark'];

/** Of a tree only these have figures. */
const TREE_COLUMNS: readonly ColumnId[] = ['site', 'live', 'self', 'count'];

/** How many different values a column has. */
export interface Several {
  devices: number;
  threads: number;
  /** Width of the longest growth per step in a narrow table; 0: the growth of such rows is not judged. */
  stepPx: number;
  /** Rows grew: a column that came stays. */
  grew: boolean;
  /** The file that all rows are lines of; '': there are several, or rows are something else. */
  oneFile: string;
}

/** The longest growth per step in a narrow table, and the room beside its width: letters differ. */
export const LONGEST_STEP = stepText(99.99 * 1024 ** 2);
const STEP_MORE_PX = { wide: 20, narrow: 4 };

/** The columns to show. A single device or thread needs no column; whether rows grow changes none: they would move while they are read. */
export function chosenColumns(
  choice: readonly Choice[],
  tree: boolean,
  { devices, threads, stepPx }: Omit<Several, 'oneFile' | 'grew'>,
): Column[] {
  if (tree) return COLUMNS.filter(({ id }) => TREE_COLUMNS.includes(id));
  const values: Partial<Record<ColumnId, number>> = { device: devices - 1, thread: threads - 1, step: stepPx };
  const chosen = COLUMNS.filter(
    ({ id }) => id === 'site' || (id !== 'self' && choice.includes(id) && (values[id] ?? 1) > 0),
  );
  const widths = [stepPx + STEP_MORE_PX.wide, stepPx + STEP_MORE_PX.narrow] as const;
  return chosen.map(column => (column.id === 'step' ? { ...column, widths } : column));
}
