import { findResets, piecesOf, type Piece, type Reset } from './changes';
import { at, mannKendall, median, theilSen } from './statistics';
import { THRESHOLDS as T } from './thresholds';

/**
 * How a series stands at its end. `empty`: was never above zero after the warm-up. `flat`: rose in the warm-up alone.
 * `early`: rises, too short to tell. `stopped`: rose and stays. `slowing`: rises ever more slowly. `bounded`: as much
 * leaves as comes. `sawtooth`: falls back again and again.
 */
export type GrowthState = 'growing' | 'slowing' | 'stopped' | 'bounded' | 'sawtooth' | 'early' | 'flat' | 'empty';

export interface Growth {
  state: GrowthState;
  /** Step of the first allocation that stayed, of the growth up to now (or of the last one). */
  since: number;
  /** Growth a step over that time, and the interval it lies in. */
  perStep: number;
  low: number;
  high: number;
  /** Steps with growth since then, and the usual number of steps between two. */
  events: number;
  gap: number;
  /** Index of the entry before the growth: what lies behind it is its evidence. */
  from: number;
  /** Index of the entry up to which it was measured. */
  to: number;
  /** Steps until it can be told whether it grows; 0 where it is told. */
  waits: number;
  resets: Reset[];
}

/** Values at the ends of steps; `lag` is the number of step ends after which an allocation is counted in them. */
export interface GrowthInput {
  steps: readonly number[];
  values: readonly number[];
  lag: number;
}

/** Judges a series at its end; costs about the square of its length where it grows. */
export function judgeGrowth(input: GrowthInput): Growth {
  const { values } = input;
  const changes = values.map((value, i) => (i === 0 ? 0 : value - at(values, i - 1)));
  const warm = warmEntries(input);
  if (!values.some((value, i) => value > 0 && i >= warm - 1)) return still(input, 'empty', []);
  const resets = findResets(values.slice(warm), T.resetShare, T.resetRises).map(reset => ({
    ...reset,
    at: reset.at + warm,
  }));
  const start = Math.max(warm, (resets.at(-1)?.at ?? -1) + 1);
  const { events, begin } = eventsFrom(ratesOf(input.steps, changes), start);
  const troughs = risingTroughs(input, resets);
  if (troughs !== null) return troughs;
  if (events.length === 0) return still(input, resets.length > 0 ? 'sawtooth' : 'flat', resets);
  const ramp = judgeRamp(input, changes, begin, events);
  const held = { ...ramp, resets };
  if (resets.length > 0 && !outgrows(values, start, resets)) return { ...held, state: 'sawtooth', waits: 0 };
  return held;
}

/** Entries of the warm-up: allocations of its steps come in `lag` step ends later. */
function warmEntries({ steps, lag }: GrowthInput): number {
  const first = at(steps, 0);
  const index = steps.findIndex(step => step >= first + T.warmupSteps + lag);
  return Math.max(1, index < 0 ? steps.length : index);
}

/** Changes a step: entries of the far past stand for several steps. */
function ratesOf(steps: readonly number[], changes: readonly number[]): number[] {
  return changes.map((change, i) => (i === 0 ? 0 : change / (at(steps, i) - at(steps, i - 1))));
}

/** Entries that rise, and from where; a first rise far above the later ones is a set-up of its own. */
function eventsFrom(rates: readonly number[], start: number): { events: number[]; begin: number } {
  const events: number[] = [];
  for (let i = start; i < rates.length; i++) if (at(rates, i) > 0) events.push(i);
  const [first, ...rest] = events;
  if (first === undefined || rest.length < 2) return { events, begin: start };
  const usual = median(rest.map(event => at(rates, event)));
  return at(rates, first) > T.resetRises * usual ? { events: rest, begin: first + 1 } : { events, begin: start };
}

function still({ steps, values, lag }: GrowthInput, state: GrowthState, resets: Reset[]): Growth {
  const first = values.findIndex(value => value > 0);
  const since = Math.max(at(steps, 0), at(steps, Math.max(0, first)) - lag);
  return {
    state,
    since,
    perStep: 0,
    low: 0,
    high: 0,
    events: 0,
    gap: 0,
    from: Math.max(0, first - 1),
    to: values.length - 1,
    waits: 0,
    resets,
  };
}

function judgeRamp(input: GrowthInput, changes: readonly number[], start: number, events: number[]): Growth {
  const { steps, values } = input;
  const last = values.length - 1;
  const allGaps = gapsOf(steps, events);
  const recent = allGaps.slice(-T.recentGaps);
  const silent = at(steps, last) - at(steps, events.at(-1) ?? 0);
  const piece = lastPiece(ratesOf(steps, changes), changes, start, events, recent);
  const within = events.filter(event => event >= piece.from);
  // The newest gaps are exact: entries of the far past stand for several steps.
  const gap = median(gapsOf(steps, within).slice(-T.mostEvents)) || median(recent) || 1;
  const grown = describe(input, changes, events, within, gap);
  if (silent > silenceOf(recent)) return { ...grown, state: 'stopped' };
  const needed = neededEvents(gap);
  const net = netRise(changes, piece.from);
  if (piece.slowing && within.length > 1) return { ...grown, state: net.falls < net.rises / 2 ? 'slowing' : 'bounded' };
  if (within.length < needed) {
    const state = net.falls > net.rises ? 'bounded' : 'early';
    return { ...grown, state, waits: Math.ceil((needed - within.length) * gap) };
  }
  if (!net.rising || !isNewHigh(values, piece.from)) return { ...grown, state: 'bounded' };
  if (thinsOut(steps, within, piece.from, piece.slowed)) return { ...grown, state: 'slowing' };
  const trend = trendOf(steps.slice(grown.from), values.slice(grown.from));
  if (trend.p > T.trendLevel) return { ...grown, state: 'bounded' };
  return {
    ...grown,
    state: 'growing',
    low: Math.min(grown.perStep, trend.low),
    high: Math.max(grown.perStep, trend.high),
  };
}

/** Steps without a rise after which growth has stopped, by the gaps between the last rises. */
function silenceOf(gaps: readonly number[]): number {
  // Two events may be a coincidence: their distance is no habit yet.
  if (gaps.length === 0) return T.silentGaps * T.growthSteps;
  const longest = Math.max(...gaps);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const irregular = longest > 1.5 * median(gaps) ? T.silentMeans * mean : 0;
  return Math.max(T.silentSteps, T.silentGaps * longest, irregular);
}

/** Events that it takes, at one every `gap` steps. */
export function neededEvents(gap: number): number {
  return Math.min(T.mostEvents, Math.max(T.fewestEvents, Math.ceil(T.growthSteps / Math.max(1, gap))));
}

function gapsOf(steps: readonly number[], events: readonly number[]): number[] {
  return events.slice(1).map((event, i) => at(steps, event) - at(steps, at(events, i)));
}

/** The last stretch of one rate that has events enough, and whether what came before it makes it a slowing down. */
function lastPiece(
  rates: readonly number[],
  changes: readonly number[],
  start: number,
  events: readonly number[],
  gaps: readonly number[],
): { from: number; slowed: boolean; slowing: boolean } {
  const pieces = piecesOf(rates.slice(start), T.piece).map(piece => ({
    ...piece,
    from: piece.from + start,
    to: piece.to + start,
  }));
  const needed = neededEvents(median(gaps) || 1);
  const count = (from: number): number => events.filter(event => event >= from).length;
  let first = pieces.length - 1;
  while (first > 0 && count(at2(pieces, first).from) < needed && at2(pieces, first - 1).mean > 0) first--;
  const { from } = at2(pieces, first);
  // Each of the pieces before was faster than the one behind it: a cache that fills up.
  let filled = 0;
  let slower = meanFrom(rates, from);
  for (let i = first - 1; i >= 0 && at2(pieces, i).mean * T.slowRate > slower; i--) {
    filled += gainOf(changes, at2(pieces, i).from, at2(pieces, i).to);
    slower = at2(pieces, i).mean;
  }
  return { from, slowed: filled > 0, slowing: gainOf(changes, from, changes.length) < T.slowGain * filled };
}

function gainOf(changes: readonly number[], from: number, to: number): number {
  return changes.slice(from, to).reduce((sum, change) => sum + change, 0);
}

function at2(pieces: readonly Piece[], index: number): Piece {
  return pieces[index] ?? { from: 0, to: 0, mean: 0 };
}

function meanFrom(values: readonly number[], from: number): number {
  return values.slice(from).reduce((sum, value) => sum + value, 0) / Math.max(1, values.length - from);
}

function netRise(changes: readonly number[], from: number): { rising: boolean; rises: number; falls: number } {
  let [rises, falls, moves] = [0, 0, 0];
  for (const change of changes.slice(from)) {
    if (change > 0) rises += change;
    else falls -= change;
    if (change !== 0) moves++;
  }
  const share = (rises - falls) / (rises + falls || 1);
  return { rising: falls === 0 || (share >= T.netShare && share * Math.sqrt(moves) >= T.netScore), rises, falls };
}

function isNewHigh(values: readonly number[], from: number): boolean {
  let before = 0;
  for (let i = 0; i < from; i++) before = Math.max(before, at(values, i));
  return at(values, values.length - 1) >= T.newHigh * before;
}

/**
 * Events come less and less often: their mean time lies before the middle by more than chance allows (Laplace's test).
 * A series that has slowed before needs less to be slowing still.
 */
function thinsOut(steps: readonly number[], events: readonly number[], from: number, slowed: boolean): boolean {
  const to = at(steps, steps.length - 1);
  const begin = at(steps, Math.max(0, from - 1));
  const times = events.map(event => at(steps, event) - 0.5);
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const score = (mean - (begin + to) / 2) / ((to - begin) / Math.sqrt(12 * times.length));
  return score < -(slowed ? T.slowedScore : T.slowScore);
}

/** Numbers of the growth since the first event that belongs to it. */
function describe(
  { steps, values, lag }: GrowthInput,
  changes: readonly number[],
  events: readonly number[],
  within: readonly number[],
  gap: number,
): Growth {
  let first = within[0] ?? events.at(-1) ?? 0;
  // The warm-up was left out of the judgement; growth that ran through it began there.
  for (let i = first - 1; i > 0; i--) {
    if (at(steps, first) - at(steps, i) > 1.5 * gap) break;
    if (at(changes, i) > 0) first = i;
  }
  const from = Math.max(0, first - 1);
  const last = values.length - 1;
  const span = at(steps, last) - at(steps, from);
  const perStep = span > 0 ? (at(values, last) - at(values, from)) / span : 0;
  return {
    state: 'early',
    since: Math.max(at(steps, 0), at(steps, first) - lag),
    perStep,
    low: perStep,
    high: perStep,
    events: within.length,
    gap,
    from,
    to: last,
    waits: 0,
    resets: [],
  };
}

/** Theil-Sen's interval and Mann-Kendall's level, of at most 128 points, evenly chosen. */
function trendOf(steps: readonly number[], values: readonly number[]): { low: number; high: number; p: number } {
  const stride = Math.ceil(steps.length / 128);
  const chosen = steps.flatMap((_, i) => (i % stride === 0 ? [i] : []));
  const y = chosen.map(i => at(values, i));
  const line = theilSen(
    chosen.map(i => at(steps, i)),
    y,
  );
  return { low: line?.low ?? NaN, high: line?.high ?? NaN, p: mannKendall(y).p };
}

/** A ramp higher and longer than all before it does not look as if it will fall as they did. */
function outgrows(values: readonly number[], start: number, resets: readonly Reset[]): boolean {
  const height = at(values, values.length - 1) - at(values, Math.max(0, start - 1));
  const length = values.length - start;
  return (
    height > T.rampExcess * Math.max(...resets.map(reset => reset.height)) &&
    length > T.rampExcess * Math.max(...resets.map(reset => reset.length))
  );
}

/** What is left after each fall is more than after the one before: growth, one event a reset. */
function risingTroughs({ steps, values }: GrowthInput, resets: Reset[]): Growth | null {
  const recent = resets.slice(-4 * T.risingTroughs);
  if (recent.length < T.risingTroughs) return null;
  const lows = recent.map(reset => reset.trough);
  const trend = mannKendall(lows);
  if (trend.tau < 0.9 || at(lows, lows.length - 1) <= at(lows, 0)) return null;
  const line = theilSen(
    recent.map(reset => at(steps, reset.at)),
    lows,
  );
  const first = recent[0]?.at ?? 0;
  const gap = (at(steps, recent.at(-1)?.at ?? 0) - at(steps, first)) / (recent.length - 1);
  if (at(steps, values.length - 1) - at(steps, recent.at(-1)?.at ?? 0) > T.silentGaps * gap) return null;
  return {
    state: 'growing',
    since: at(steps, first),
    perStep: line?.slope ?? 0,
    low: line?.low ?? 0,
    high: line?.high ?? 0,
    events: recent.length,
    gap,
    from: first,
    to: recent.at(-1)?.at ?? first,
    waits: 0,
    resets,
  };
}
