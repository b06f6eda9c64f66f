import { chanceOfRecords, drift, fewestRecords, meanGap, newestRun, recordsOf, silenceOf, thinsOut } from './records';
import { at, median } from './statistics';
import { THRESHOLDS as T } from './thresholds';

/**
 * How a series stands at its end. `empty`: was never above zero after the warm-up. `flat`: rose in the warm-up alone.
 * `early`: rises, too short to judge. `stopped`: rose and stays. `slowing`: rises ever more slowly. `bounded`: as much
 * leaves as comes. `sawtooth`: falls back again and again.
 */
export type GrowthState = 'growing' | 'slowing' | 'stopped' | 'bounded' | 'sawtooth' | 'early' | 'flat' | 'empty';

export type Growth = ReturnType<typeof describe>;

/** A fall: the entry after it, and what it took back. */
export interface Fall {
  at: number;
  depth: number;
}

/** Values at the ends of steps; `lag` is the number of step ends after which an allocation is counted in them. */
export interface GrowthInput {
  steps: readonly number[];
  values: readonly number[];
  lag: number;
}

/** Judges a series at its end. */
export function judgeGrowth(input: GrowthInput): Growth {
  const { steps, values } = input;
  const warm = warmEntries(input);
  if (!values.some((value, i) => value > 0 && i >= warm - 1)) return still(input, 'empty', []);
  const falls = fallsOf(values, warm);
  const records = recordsOf(values, warm);
  if (records.length === 0) return still(input, falls.length > 0 ? 'sawtooth' : 'flat', falls);
  const newest = newestRun(steps, records);
  const growth = judgeRun(input, newest, falls);
  if (newest.length === records.length) return growth;
  const whole = judgeRun(input, records, falls);
  if (growth.state !== 'growing') return whole;
  return whole.state === 'slowing' && newest.length < (1 - T.part) * records.length ? whole : growth;
}

/** Judges growth that began with the first of these records. */
function judgeRun(input: GrowthInput, records: readonly number[], falls: Fall[]): Growth {
  const { steps, values } = input;
  const [first, last, end] = [records[0] ?? 0, records.at(-1) ?? 0, values.length - 1];
  const grown = { ...describe(input, records), falls };
  const [height, highest] = [at(values, end) - at(values, grown.from), at(values, last) - at(values, grown.from)];
  const deepest = Math.max(0, ...falls.map(({ depth }) => depth));
  if (T.most * height <= deepest) return { ...grown, state: 'sawtooth' };
  if (height <= T.most * highest) return { ...grown, state: 'bounded' };
  if (at(steps, end) - at(steps, last) > silenceOf(steps, records)) return { ...grown, state: 'stopped' };
  const changes = values.filter((value, i) => i >= first && value !== at(values, i - 1)).length;
  const chance = chanceOfRecords(changes, records.length);
  if (chance >= T.chance) {
    const enough = fewestRecords() - records.length;
    return { ...grown, state: enough > 0 ? 'early' : 'bounded', waits: Math.max(1, Math.ceil(enough * grown.gap)) };
  }
  const own = values.slice(grown.from);
  const falling = own.some((value, i) => value < at(own, i - 1));
  const drifts = records.length >= T.drift * Math.sqrt(changes) || drift(own) >= T.drift;
  if (falling && !drifts) return { ...grown, state: 'bounded' };
  if (thinsOut(input, records, first - 1)) return { ...grown, state: 'slowing' };
  return { ...grown, state: 'growing', confidence: confidenceOf(records.length, changes, chance) };
}

/**
 * The probability that the growth is not chance, times the probability that it continues. It was tested at each change, so chance had that
 * many tries. What happened r times happens once more with probability (r + 1) / (r + 2) (Laplace's rule of succession).
 */
function confidenceOf(records: number, changes: number, chance: number): number {
  const continues = (records + 1) / (records + 2);
  return Math.min(1 - T.rare, Math.max(0, 1 - changes * chance) * continues);
}

/** Entries of the warm-up: allocations of its steps come in `lag` step ends later. */
function warmEntries({ steps, lag }: GrowthInput): number {
  const first = at(steps, 0);
  const index = steps.findIndex(step => step >= first + T.few + lag);
  return Math.max(1, index < 0 ? steps.length : index);
}

/** Entries that took back more than half of what had gathered since the fall before, in several rises. */
export function fallsOf(values: readonly number[], warm = 1): Fall[] {
  const falls: Fall[] = [];
  let floor = at(values, warm - 1);
  let [peak, rises] = [floor, 0];
  for (let i = warm; i < values.length; i++) {
    const value = at(values, i);
    if (value > at(values, i - 1)) rises++;
    peak = Math.max(peak, value);
    floor = Math.min(floor, value);
    if (value >= at(values, i - 1) || peak - value <= T.most * (peak - floor) || rises < 2) continue;
    falls.push({ at: i, depth: peak - value });
    floor = peak = value;
    rises = 0;
  }
  return falls;
}

/** Numbers of the growth since the first record that belongs to it. */
function describe({ steps, values, lag }: GrowthInput, records: readonly number[]) {
  const gap = meanGap(steps, records);
  const newest = records.slice(-fewestRecords()); // entries of the far past stand for several steps
  let first = records[0] ?? 0;
  // The warm-up was left out of the judgement; growth that ran through it began there.
  for (let i = first - 1; i > 0; i--) {
    if (at(steps, first) - at(steps, i) > (1 + T.most) * gap && i < first - 1) break;
    if (at(values, i) > at(values, i - 1)) first = i;
  }
  const from = Math.max(0, first - 1);
  const to = values.length - 1;
  const span = at(steps, to) - at(steps, from);
  const perStep = span > 0 ? (at(values, to) - at(values, from)) / span : 0;
  const width = steps.length > 1 ? at(steps, 1) - at(steps, 0) : 1;
  const start = Math.max(1, at(steps, 0) - width + 1);
  const already = first <= 1 && at(values, 0) > 0 && at(values, 0) <= (1 + T.most) * perStep * width;
  return {
    state: 'early' as GrowthState,
    /** Step of the first allocation that stayed, of the growth up to now (or of the last one). */
    since: already ? start : Math.max(start, at(steps, first - 1) + 1 - lag),
    /** Growth a step over that time. */
    perStep,
    /** Records since then, and the mean number of steps between two. */
    events: records.length,
    gap: Math.max(1, median(newest.slice(1).map((i, k) => at(steps, i) - at(steps, at(newest, k)))) || gap),
    /** From 0 to 1, see `confidenceOf`; 0 where it does not grow. */
    confidence: 0,
    /** Index of the entry before the growth: what lies behind it is its evidence. */
    from,
    /** Index of the entry up to which it was measured. */
    to,
    /** Steps until it can be judged whether it grows; 0: it is judged. */
    waits: 0,
    /** Entries that took back more than half of what had gathered since the fall before. */
    falls: [] as Fall[],
  };
}

function still({ steps, values, lag }: GrowthInput, state: GrowthState, falls: Fall[]): Growth {
  const first = values.findIndex(value => value > 0);
  const since = Math.max(at(steps, 0), at(steps, Math.max(0, first)) - lag);
  const none = { perStep: 0, events: 0, gap: 0, confidence: 0, waits: 0 };
  return { state, since, ...none, from: Math.max(0, first - 1), to: values.length - 1, falls };
}
