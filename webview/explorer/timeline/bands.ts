// The bands at the foot of the chart: what the program did when, and above that the ranges that it names itself.
import { rangePath, rangeRows } from '../../../extension/protocol/ranges';
import { PASSES, type NamedRange, type Pass, type PassBegins } from '../../../extension/protocol/trace';
import { formatDuration } from '../../../extension/text/format';
import type { Palette } from '../common/theme';
import { WORDS } from '../common/vocabularyWords';
import type { TimeWindow } from '../state/zoom';

export interface Band {
  label: string;
  /** null: a range. */
  pass: Pass | null;
  fromNs: number;
  toNs: number;
  /** From below, 0. */
  row: number;
}

export interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The mean width of passes below which none is drawn, and that of a range: without its name a band looks like memory. */
export const READABLE_PX = 40;
const MOST_ROWS = 3;

const isIn = ({ fromNs, toNs }: Band, window: TimeWindow): boolean => toNs > window.fromNs && fromNs < window.toNs;

/** What the program did, and when it stood still for a search by the tracer, which is not part of it; rising. */
export interface Work {
  passes: PassBegins;
  ranges: readonly NamedRange[];
  searches: readonly TimeWindow[];
}

/** All that is drawn in so many pixels: passes, and above them ranges. */
export function bandsIn(
  { passes, ranges, searches }: Work,
  window: TimeWindow,
  untilNs: number,
  pixels: number,
): Band[] {
  const seen = passBands(passes, window, untilNs, pixels);
  const bands = [...seen, ...rangeBands(ranges, window, untilNs, Math.min(1, seen.length))];
  return bands.flatMap(band => workedIn(band, searches).map(part => ({ ...band, ...part })));
}

/** A span without the searches in it. */
function workedIn(span: TimeWindow, searches: readonly TimeWindow[]): TimeWindow[] {
  const parts: TimeWindow[] = [];
  let { fromNs } = span;
  for (const search of searches.filter(one => one.toNs > span.fromNs && one.fromNs < span.toNs)) {
    parts.push({ fromNs, toNs: search.fromNs });
    fromNs = search.toNs;
  }
  return [...parts, { fromNs, toNs: span.toNs }].filter(part => part.toNs > part.fromNs);
}

/** Those that are seen in the window; what is between passes is left out. None where they are too narrow for their names. */
function passBands(begins: PassBegins, window: TimeWindow, untilNs: number, pixels: number): Band[] {
  const passes: Band[] = [];
  for (let at = 0; at < begins.length; at += 2) {
    const pass = PASSES[begins[at + 1]!] ?? 'other';
    const [fromNs, toNs] = [begins[at]!, begins[at + 2] ?? untilNs];
    const band = { label: WORDS.passes[pass], pass, fromNs, toNs, row: 0 };
    if (pass !== 'other' && isIn(band, window)) passes.push(band);
  }
  return passes.length * READABLE_PX > pixels ? [] : passes;
}

/** Each above those that lie in it, from the row `lowest` on; of more than three rows the innermost three. */
function rangeBands(ranges: readonly NamedRange[], window: TimeWindow, untilNs: number, lowest: number): Band[] {
  const all = rangeRows(ranges, untilNs).map(({ name, ...one }) => ({ ...one, label: name, pass: null }));
  const seen = all.filter(band => isIn(band, window));
  const innermost = Math.max(...seen.map(({ row }) => row));
  return seen.flatMap(band => {
    const row = innermost - band.row;
    return row < MOST_ROWS ? [{ ...band, row: lowest + row }] : [];
  });
}

/** What was done at a time, and for how long: `forward, 12.30 ms`, `train_step › attention, 3.10 ms`. */
export function doneAt({ passes: begins, ranges, searches }: Work, timeNs: number, untilNs: number): string[] {
  const lasting = (what: string, fromNs: number, toNs: number): string => {
    const worked = workedIn({ fromNs, toNs }, searches);
    return `${what}, ${formatDuration(worked.reduce((sum, part) => sum + part.toNs - part.fromNs, 0))}`;
  };
  let at = -2;
  while (begins[at + 2]! <= timeNs) at += 2;
  const pass = PASSES[begins[at + 1] ?? -1] ?? 'other';
  const innermost = ranges.findLast(({ beginNs, endNs }) => beginNs <= timeNs && (endNs ?? Infinity) > timeNs);
  const done = pass === 'other' ? [] : [lasting(WORDS.passes[pass], begins[at]!, begins[at + 2] ?? untilNs)];
  if (!innermost) return done;
  return [...done, lasting(rangePath(ranges, timeNs), innermost.beginNs, innermost.endNs ?? untilNs)];
}

const ROW_PX = 13;
const CHARACTER_PX = 6.2;

/** A short text of the timeline has room in so many pixels. */
export const textFits = (text: string, pixels: number): boolean => text.length * CHARACTER_PX + 4 <= pixels;

/** As much of the text as has room; '': not three letters of it. */
function cutTo(text: string, pixels: number): string {
  if (textFits(text, pixels)) return text;
  const letters = Math.floor((pixels - 4) / CHARACTER_PX) - 1;
  return letters < 3 ? '' : `${text.slice(0, letters)}…`;
}

/** Draws them on the canvas of the chart: as elements, hundreds would be styled anew in each frame of a zoom. */
export function drawBands(
  canvas: CanvasRenderingContext2D,
  { left, right, bottom }: Plot,
  { fromNs, toNs }: TimeWindow,
  bands: readonly Band[],
  { passes, text, font, between }: Palette,
): void {
  const scale = (right - left) / Math.max(toNs - fromNs, 1);
  canvas.save();
  canvas.font = `10px ${font}`;
  canvas.textAlign = 'center';
  canvas.textBaseline = 'middle';
  for (const band of bands) {
    const from = Math.max(left, left + (band.fromNs - fromNs) * scale);
    const width = Math.max(2, Math.min(right, left + (band.toNs - fromNs) * scale) - from);
    const top = bottom - (band.row + 1) * ROW_PX;
    canvas.fillStyle = between;
    canvas.fillRect(from, top, width, ROW_PX);
    canvas.fillStyle = passes[band.pass ?? 'other'];
    canvas.fillRect(from + 1, top, width - 2, ROW_PX);
    canvas.fillStyle = text;
    canvas.fillText(cutTo(band.label, width), from + width / 2, top + ROW_PX / 2 + 0.5);
  }
  canvas.restore();
}
