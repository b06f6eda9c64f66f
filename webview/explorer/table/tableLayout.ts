// How much room each column gets. A row is one line.
import type { Column, ColumnId } from '../common/columns';

export interface Layout {
  /** Names have room for the word of the verdict. */
  wide: boolean;
  /** Value of `grid-template` for a row; areas are named as the columns. */
  template: string;
  /** A narrower table scrolls sideways. */
  leastPx: number;
  columns: readonly Column[];
  /** Columns without room. */
  left: readonly ColumnId[];
}

export const ROW_PX = 24;
const WIDE_PX = 600;
const GAP = { wide: 8, narrow: 6 };
/** The scroll bar, or as much where it lies over the rows, is the rest of the padding on the right. */
export const LEAST_SCROLLBAR_PX = 10;
const PADDING_PX = 14;
const SITE_PX = { wide: 220, narrow: 84 };
/** What numbers of lines need, alone and behind three letters: more is no reason to leave out what rows grow by. */
const LEAST_SITE_PX = { number: 44, name: 70 };
/** `several threads` has room. */
const THREAD_PX = 104;
/** From this width on, growth has its column while no row grows. */
const IDLE_PX = 320;
/** Where there is no room for all, these give way, in this order; then the last ones. */
const GIVE_WAY: readonly ColumnId[] = ['thread', 'device', 'count', 'spark', 'step'];

/** Without them a row says nothing. */
const STAY: readonly ColumnId[] = ['site', 'live'];

/**
 * The table in `width` pixels. `fits`: columns may give way, as they do in a narrow table; else what the user chose scrolls sideways. `numbers`:
 * rows are named by their line alone. `idle`: no row grew, and in a panel names get the room of that column; the others stay where they are.
 */
export function layoutOf(
  columns: readonly Column[],
  width: number,
  fits: boolean,
  numbers = false,
  idle = false,
): Layout {
  const wide = width >= WIDE_PX;
  let layout = withColumns(columns, wide);
  const last = columns.map(({ id }) => id).filter(id => !STAY.includes(id));
  for (const id of fits || !wide ? [...GIVE_WAY, ...last.toReversed()] : []) {
    if (id === 'step' && layout.leastPx > width)
      layout = withColumns(layout.columns, wide, LEAST_SITE_PX[numbers ? 'number' : 'name']);
    if (layout.leastPx <= width) break;
    layout = withColumns(
      layout.columns.filter(column => column.id !== id),
      wide,
    );
  }
  if (idle && width < IDLE_PX)
    layout = withColumns(
      layout.columns.filter(({ id }) => id !== 'step'),
      wide,
    );
  const left = last.filter(id => !layout.columns.some(column => column.id === id));
  return { ...layout, left };
}

function withColumns(columns: readonly Column[], wide: boolean, sitePx?: number): Omit<Layout, 'left'> {
  const size = wide ? 'wide' : 'narrow';
  const sitesPx = sitePx ?? SITE_PX[size];
  const tracks = columns.map(({ id, widths }) => {
    if (id === 'site') return { css: `minmax(${sitesPx}px, 3fr)`, px: sitesPx };
    const px = widths[wide ? 0 : 1];
    return px > 0 ? { css: `${px}px`, px } : { css: `minmax(${THREAD_PX}px, 1fr)`, px: THREAD_PX };
  });
  const leastPx = tracks.reduce((total, { px }) => total + px, 0) + GAP[size] * (tracks.length - 1) + PADDING_PX;
  const [areas, sizes] = [columns.map(({ id }) => id).join(' '), tracks.map(({ css }) => css).join(' ')];
  return { wide, template: `'${areas}' 22px / ${sizes}`, leastPx, columns };
}
