// The bands below the chart: what the program did when, and above that the ranges that it names itself.
import { rangeRows } from '../../../extension/protocol/ranges';
import { PASSES, type NamedRange, type Pass, type PassBegins } from '../../../extension/protocol/trace';
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

/** The mean width below which passes are a blur, and none is drawn; narrower ranges are not requested. */
export const NARROWEST_PX = 5;
const MOST_ROWS = 3;

const isIn = ({ fromNs, toNs }: Band, window: TimeWindow): boolean => toNs > window.fromNs && fromNs < window.toNs;

/** Those that are seen in the window; what is between passes is left out. None where they are too narrow to be distinguished. */
export function passBands(begins: PassBegins, window: TimeWindow, untilNs: number, pixels: number): Band[] {
  const passes: Band[] = [];
  for (let at = 0; at < begins.length; at += 2) {
    const pass = PASSES[begins[at + 1]!] ?? 'other';
    const [fromNs, toNs] = [begins[at]!, begins[at + 2] ?? untilNs];
    const band = { label: WORDS.passes[pass], pass, fromNs, toNs, row: 0 };
    if (pass !== 'other' && isIn(band, window)) passes.push(band);
  }
  return passes.length * NARROWEST_PX > pixels ? [] : passes;
}

/** Each above those that lie in it, from the row `lowest` on; of more than three rows the innermost three. */
export function rangeBands(ranges: readonly NamedRange[], window: TimeWindow, untilNs: number, lowest: number): Band[] {
  const all = rangeRows(ranges, untilNs).map(({ name, ...one }) => ({ ...one, label: name, pass: null }));
  const seen = all.filter(band => isIn(band, window));
  const innermost = Math.max(...seen.map(({ row }) => row));
  return seen.flatMap(band => {
    const row = innermost - band.row;
    return row < MOST_ROWS ? [{ ...band, row: lowest + row }] : [];
  });
}

/** What was done at a time. */
export function passAt(begins: PassBegins, timeNs: number): Pass {
  let pass: Pass = 'other';
  for (let at = 0; at < begins.length && begins[at]! <= timeNs; at += 2) pass = PASSES[begins[at + 1]!] ?? 'other';
  return pass;
}
