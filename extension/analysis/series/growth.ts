import { findResets, piecesOf, type Piece, type Reset } from './changes';
import {
  gainFades,
  gapsOf,
  isEven,
  isNewHigh,
  isRegular,
  neededEvents,
  netRise,
  silenceOf,
  thinsOut,
  trendOf,
} from './growthChecks';
import { at, mannKendall, mean, median, sum, theilSen } from './statistics';
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
  const none = { perStep: 0, low: 0, high: 0, events: 0, gap: 0, waits: 0 };
  return { state, since, ...none, from: Math.max(0, first - 1), to: values.length - 1, resets };
}

function judgeRamp(input: GrowthInput, changes: readonly number[], start: number, events: number[]): Growth {
  const { steps, values } = input;
  const recent = gapsOf(steps, events).slice(-T.recentGaps);
  const piece = lastPiece(ratesOf(steps, changes), changes, start, events, recent);
  const within = events.filter(event => event >= piece.from);
  const gaps = gapsOf(steps, within).slice(-T.recentGaps);
  // The newest gaps are exact: entries of the far past stand for several steps.
  const gap = median(gaps.slice(-T.mostEvents)) || median(recent) || 1;
  const grown = describe(input, changes, events, within, gap);
  const silent = at(steps, values.length - 1) - at(steps, events.at(-1) ?? 0);
  if (silent > silenceOf(recent)) return { ...grown, state: 'stopped' };
  const net = netRise(changes, piece.from);
  const steady = isRegular(gaps) && within.length >= T.steadyEvents;
  if (piece.slowing && within.length > 1 && !steady) {
    return { ...grown, state: net.falls < net.rises / 2 ? 'slowing' : 'bounded' };
  }
  const habit = events.slice(-T.mostEvents);
  const needed = isRegular(gapsOf(steps, habit)) && isEven(changes, habit) ? neededEvents(gap) : T.mostEvents;
  if (within.length < needed) {
    const state = net.falls > net.rises ? 'bounded' : 'early';
    return { ...grown, state, waits: Math.ceil((needed - within.length) * gap) };
  }
  if (!net.rising || !isNewHigh(values, warmEntries(input), piece.from)) return { ...grown, state: 'bounded' };
  if (net.falls > 0 && gainFades(steps, values, piece.from)) return { ...grown, state: 'bounded' };
  if (!steady && thinsOut(steps, within, piece.from, piece.slowed)) return { ...grown, state: 'slowing' };
  const trend = trendOf(steps.slice(grown.from), values.slice(grown.from));
  if (trend.p > T.trendLevel) return { ...grown, state: 'bounded' };
  const [low, high] = [Math.min(grown.perStep, trend.low), Math.max(grown.perStep, trend.high)];
  return { ...grown, state: 'growing', low, high };
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
  let slower = mean(rates.slice(from));
  for (let i = first - 1; i >= 0 && at2(pieces, i).mean * T.slowRate > slower; i--) {
    filled += gainOf(changes, at2(pieces, i).from, at2(pieces, i).to);
    slower = at2(pieces, i).mean;
  }
  return { from, slowed: filled > 0, slowing: gainOf(changes, from, changes.length) < T.slowGain * filled };
}

function gainOf(changes: readonly number[], from: number, to: number): number {
  return sum(changes.slice(from, to));
}

function at2(pieces: readonly Piece[], index: number): Piece {
  return pieces[index] ?? { from: 0, to: 0, mean: 0 };
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
    // The entry just before may stand for several steps.
    if (i < first - 1 && at(steps, first) - at(steps, i) > 1.5 * gap) break;
    if (at(changes, i) > 0) first = i;
  }
  const from = Math.max(0, first - 1);
  const last = values.length - 1;
  const span = at(steps, last) - at(steps, from);
  const perStep = span > 0 ? (at(values, last) - at(values, from)) / span : 0;
  return {
    state: 'early',
    since: beginOf(steps, values, first, lag, perStep),
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

/** The first step that may have brought what entry `first` rose by: entries of the far past stand for several. */
function beginOf(
  steps: readonly number[],
  values: readonly number[],
  first: number,
  lag: number,
  perStep: number,
): number {
  const width = steps.length > 1 ? at(steps, 1) - at(steps, 0) : 1;
  const start = Math.max(1, at(steps, 0) - width + 1);
  const already = first <= 1 && at(values, 0) > 0 && at(values, 0) <= 1.5 * perStep * width;
  return already ? start : Math.max(start, at(steps, first - 1) + 1 - lag);
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

/** Each rise makes it less likely that it ends by itself. */
export function confidenceOf(events: number): number {
  return Math.min(0.99, 1 - Math.exp(-events / T.confidenceEvents));
}
