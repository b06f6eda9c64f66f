// How much room each column gets: one line a row where there is room, else two.
import type { Column, ColumnId } from '../common/columns';

export interface Layout {
  wide: boolean;
  rowPx: number;
  /** Value of `grid-template` for a row; areas are named as the columns. */
  template: string;
  /** A narrower table scrolls sideways. */
  leastPx: number;
  columns: readonly Column[];
}

export const WIDE_PX = 640;
/** Narrower than this there is no room for lines over the run. */
const SPARK_PX = 336;
const GAP = { wide: 8, narrow: 6 };
const PADDING_PX = 24;
const SITE_PX = { wide: 220, narrow: 90 };
const THREAD_PX = { wide: 90, narrow: 40 };
const LIVE_PX = 92;
/** Stand below the bytes alive where there are two lines a row. */
const LAST: readonly ColumnId[] = ['growth', 'step'];

/** The table in `width` pixels. */
export function layoutOf(columns: readonly Column[], width: number): Layout {
  const wide = oneLine(columns);
  if (width >= Math.max(WIDE_PX, wide.leastPx)) return wide;
  return twoLines(columns.filter(({ id }) => id !== 'spark' || width >= SPARK_PX));
}

function oneLine(columns: readonly Column[]): Layout {
  const tracks = columns.map(({ id, widths: [px] }) => {
    if (id === 'site') return { css: `minmax(${SITE_PX.wide}px, 3fr)`, px: SITE_PX.wide };
    return px > 0 ? { css: `${px}px`, px } : { css: `minmax(${THREAD_PX.wide}px, 1fr)`, px: THREAD_PX.wide };
  });
  return {
    wide: true,
    rowPx: 24,
    template: `'${columns.map(({ id }) => id).join(' ')}' 22px / ${tracks.map(({ css }) => css).join(' ')}`,
    leastPx: sum(tracks) + GAP.wide * (tracks.length - 1) + PADDING_PX,
    columns,
  };
}

interface Track {
  area: string;
  css: string;
  px: number;
}

/** The name and the bytes alive above, the rest below, the line over the run beside both. */
function twoLines(columns: readonly Column[]): Layout {
  const has = (id: string): boolean => columns.some(column => column.id === id);
  const second = lowerTracks(columns, has('live'));
  const spans = has('live') ? liveSpan(second) : 0;
  const upper: string[] = second.map((_, i) => (i < second.length - spans ? 'site' : 'live'));
  const lower = second.map(({ area }) => area);
  const spark = columns.find(({ id }) => id === 'spark');
  if (spark) {
    upper.push('spark');
    lower.push('spark');
    second.push({ area: 'spark', css: `${spark.widths[1]}px`, px: spark.widths[1] });
  }
  const empty = lower.every(area => area === '.' || area === 'spark');
  const lines = empty ? `'${upper.join(' ')}' 22px` : `'${upper.join(' ')}' 20px '${lower.join(' ')}' 16px`;
  return {
    wide: false,
    rowPx: empty ? 24 : 38,
    template: `${lines} / ${second.map(({ css }) => css).join(' ')}`,
    leastPx: sum(second) + GAP.narrow * (second.length - 1) + PADDING_PX,
    columns,
  };
}

/** One flexible track first, then figures; as wide together as the bytes alive above them. */
function lowerTracks(columns: readonly Column[], live: boolean): Track[] {
  const below = columns.filter(({ id }) => id !== 'site' && id !== 'live' && id !== 'spark');
  const thread = below.some(({ id }) => id === 'thread');
  const least = thread ? THREAD_PX.narrow : SITE_PX.narrow;
  const first: Track = { area: thread ? 'thread' : '.', css: `minmax(${least}px, 1fr)`, px: least };
  const device = below.filter(({ id }) => id === 'device');
  const figures = below.filter(({ id }) => id !== 'thread' && id !== 'device');
  const last = figures.filter(({ id }) => LAST.includes(id));
  const tracks = [...device, ...figures.filter(({ id }) => !LAST.includes(id)), ...last].map(
    ({ id, widths: [, px] }) => ({ area: id as string, css: `${px}px`, px }),
  );
  const missing = live ? LIVE_PX - sum(tracks) - GAP.narrow * tracks.length : 0;
  if (missing > 0) tracks.push({ area: '.', css: `${missing}px`, px: missing });
  return [first, ...tracks];
}

/** How many of the last tracks the bytes alive need. */
function liveSpan(tracks: readonly Track[]): number {
  let px = 0;
  for (let count = 1; count < tracks.length; count++) {
    px += tracks[tracks.length - count]!.px;
    if (px >= LIVE_PX) return count;
    px += GAP.narrow;
  }
  return tracks.length - 1;
}

function sum(tracks: readonly { px: number }[]): number {
  return tracks.reduce((total, { px }) => total + px, 0);
}
