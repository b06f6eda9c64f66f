import { groupBy, remembered } from '../base/maps';
import { pairing } from './pairing';
import { categoryOf, passOf, type RecordedRun } from './recordedRun';
import { bufferBytes, isBuffer, sumsOf } from './reductionBuffers';
import { REST_BYTES, ROUNDING } from './requestSizes';
import { SizeVotes } from './sizeVotes';

// What each allocation takes with another batch: by two runs exactly where the bytes follow the batch, by one run by what it is for.

/** Such small tensors hold counts, scales and the like. */
const SMALL_BYTES = 4096;
/** Of a tensor whose growth its rounding does not hide. */
const CERTAIN_BYTES = 2 ** 16;
const MODEL = new Set(['parameter', 'gradient', 'optimizer', 'buffer', 'workspace']);

/** A run, and what was requested by allocation. */
export interface SizedRun {
  run: RecordedRun;
  requested: Float64Array;
  /** By allocation, 1: its block is what was requested. */
  exact: Uint8Array;
  /** The largest buffer for the parts of a sum on its GPU; Infinity: not known. */
  largestBuffer: number;
}

/** As the allocator does. */
export const rounded = (bytes: number): number => Math.max(ROUNDING, Math.ceil(bytes / ROUNDING) * ROUNDING);

/** Bytes of each allocation of a run, with its batch times a factor. */
export type Sizes = (factor: number) => Float64Array;

/** By one run: what belongs to the model stays, all else grows by the factor. It may be less: libraries choose workspaces of their own. */
export function byFactor(sized: SizedRun): Sizes {
  const grows = growing(sized);
  return withBuffers(sized, (bytes, at, factor) => (grows[at] === 1 ? rounded(bytes * factor) : bytes));
}

/** Sizes in which the buffers of sums are as large as PyTorch makes them, and of sums that are not found, no larger than the largest. */
function withBuffers(sized: SizedRun, sizeOf: (bytes: number, at: number, factor: number) => number): Sizes {
  const { run, requested, exact, largestBuffer } = sized;
  const sums = sumsOf(run, requested, exact, largestBuffer);
  const most = requested.map((bytes, at) => (isBuffer(run, at) ? Math.max(bytes, largestBuffer) : Infinity));
  return factor =>
    requested.map((bytes, at) => {
      const sum = sums.get(at);
      if (sum !== undefined) return rounded(bufferBytes(sum.columns, Math.round(sum.rows * factor), largestBuffer));
      return Math.min(most[at] ?? Infinity, sizeOf(bytes, at, factor));
    });
}

/** By allocation, 1: by one run, it grows with the batch. */
function growing({ run, requested }: SizedRun): Uint8Array {
  const own = parameterSizes(run, requested);
  return Uint8Array.from(requested, (bytes, at) => {
    const stays =
      isOfModel(run, at) ||
      passOf(run, at) === 'optimizer' ||
      bytes <= SMALL_BYTES ||
      own.get(run.module[at] ?? 0)?.has(bytes) === true;
    return stays ? 0 : 1;
  });
}

const isOfModel = (run: RecordedRun, at: number): boolean => MODEL.has(categoryOf(run, at));

/** By module, what has the size of one of its parameters: copies in half the precision or twice that, and gradients before they have a name. */
export function parameterSizes(run: RecordedRun, requested: Float64Array): Map<number, Set<number>> {
  const sizes = new Map<number, Set<number>>();
  for (let at = 0; at < run.count; at++) {
    const category = categoryOf(run, at);
    if (category !== 'parameter' && category !== 'buffer') continue;
    const module = run.module[at] ?? 0;
    const bytes = requested[at] ?? 0;
    const known = remembered(sizes, module, () => new Set());
    for (const size of [bytes, rounded(bytes / 2), bytes * 2]) known.add(size);
  }
  return sizes;
}

/** A run, and the batch that it had. */
export interface BatchRun extends SizedRun {
  batch: number;
}

/** By two runs: bytes as a + b × batch for each allocation of `base`, as far as the other has it too; else as by one run. */
export function byTwoRuns(base: BatchRun, other: BatchRun): Sizes {
  const { bytes, slope } = growthOf(base, other);
  return withBuffers(base, (_, at, factor) => rounded((bytes[at] ?? 0) + (slope[at] ?? 0) * base.batch * (factor - 1)));
}

interface Growth {
  /** What each allocation requested, by both runs. */
  bytes: Float64Array;
  /** Bytes by which it grows with the batch. */
  slope: Float64Array;
}

function growthOf(base: BatchRun, other: BatchRun): Growth {
  const { run, requested, batch } = base;
  const pair = pairsOf(base, other);
  const totals = [totalBySite(base), totalBySite(other)] as const;
  const grows = growing(base);
  const votes = new SizeVotes(base, other, [grows, growing(other)]);
  const runs = { base, other, votes, proportional: areProportional(base, other, pair) };
  const growth: Growth = { bytes: Float64Array.from(requested), slope: new Float64Array(run.count) };
  const alike = new Map<string, number>(); // of the same line and size, that could be paired
  const size = (at: number): string => `${run.site[at]} ${requested[at]}`;
  for (let at = 0; at < run.count; at++) {
    const there = pair[at] ?? -1;
    if (there < 0) continue;
    const both = bothOf(runs, at, there);
    growth.bytes[at] = both?.bytes ?? requested[at] ?? 0;
    growth.slope[at] = both?.slope ?? oddSlope(base, at, other, there);
    alike.set(size(at), growth.slope[at] ?? 0);
  }
  for (let at = 0; at < run.count; at++) {
    if ((pair[at] ?? -1) >= 0) continue;
    const bytes = requested[at] ?? 0;
    const [own = 0, others = 0] = totals.map(total => total.get(keyOf(run, at)));
    // What the other run has not as often grows as its line does; a line that it has not, as by one run.
    const ofLine = (bytes * (1 - others / own)) / (batch - other.batch);
    const alone = grows[at] === 1 ? bytes / batch : 0;
    growth.slope[at] = alike.get(size(at)) ?? (own > 0 && others > 0 ? Math.max(0, ofLine) : alone);
  }
  return growth;
}

/** Bytes that an allocation requested: between both. */
interface Bounds {
  least: number;
  most: number;
}

export const boundsOf = ({ run, exact }: SizedRun, at: number): Bounds => {
  const most = run.bytes[at] ?? 0;
  // A larger block may have a rest that was not split off.
  const rest = exact[at] === 1 || most <= REST_BYTES ? 0 : REST_BYTES;
  const least = most - rest - ROUNDING + 1;
  return { least: rest === 0 ? least : Math.max(least, REST_BYTES + 1), most };
};

/** What one request can have been in both runs, if it is `scale` times as large in the first; null: it cannot. */
function shared(own: Bounds, there: Bounds, scale: number): Bounds | null {
  const bounds = { least: Math.max(own.least, there.least * scale), most: Math.min(own.most, there.most * scale) };
  return bounds.least <= bounds.most ? bounds : null;
}

/** How the tensors of a pair can belong together: the same size in both runs, or as many bytes for each of the batch. */
const scalesOf = (base: BatchRun, other: BatchRun): [number, number] => [1, base.batch / other.batch];

/** Whether tensors of known size are as many bytes for each of the batch in both runs; in graphs and texts of any length they may not be. */
function areProportional(base: BatchRun, other: BatchRun, pair: Int32Array): boolean {
  const ratio = base.batch / other.batch;
  let [alike, all] = [0, 0];
  pair.forEach((there, at) => {
    const [own, others] = [base.run.bytes[at] ?? 0, other.run.bytes[there] ?? 0];
    if (there < 0 || own === others || others < CERTAIN_BYTES) return;
    if (base.exact[at] !== 1 || other.exact[there] !== 1) return;
    all++;
    if (shared(boundsOf(base, at), boundsOf(other, there), ratio) !== null) alike++;
  });
  return alike > all / 2;
}

/** Bytes of a tensor that is in both runs, and by how much it grows; null: it is none that grows with the batch or stays. */
function bothOf(
  { base, other, votes, proportional }: { base: BatchRun; other: BatchRun; votes: SizeVotes; proportional: boolean },
  at: number,
  there: number,
): { bytes: number; slope: number } | null {
  const [own, others] = [boundsOf(base, at), boundsOf(other, there)];
  const [estimate, estimateThere] = [base.requested[at] ?? 0, other.requested[there] ?? 0];
  const ways = scalesOf(base, other).flatMap(scale => {
    const bounds = shared(own, others, scale);
    const agree = Math.abs(estimate - estimateThere * scale) < ROUNDING * scale;
    const elected = bounds === null ? null : votes.best(bounds, scale);
    if (bounds === null || (!agree && elected === null && !proportional)) return [];
    const exact = [base.exact[at] === 1 ? own.most : NaN, other.exact[there] === 1 ? others.most * scale : NaN];
    const known = exact.find(bytes => bytes >= bounds.least && bytes <= bounds.most);
    const bytes = known ?? (agree ? estimate : (elected?.bytes ?? bounds.most));
    return [{ scale, bytes, votes: agree ? Infinity : (elected?.votes ?? 0) }];
  });
  const stays = own.most === others.most || isOfModel(base.run, at) ? 1 : -1;
  const [best] = ways.toSorted((a, b) => Math.sign(b.votes - a.votes) || stays * (a.scale - b.scale));
  return best === undefined ? null : { bytes: best.bytes, slope: best.scale === 1 ? 0 : best.bytes / base.batch };
}

/** What a library requests for itself: more with a larger batch, but no faster than the batch. */
function oddSlope({ requested, batch }: BatchRun, at: number, other: BatchRun, there: number): number {
  const [bytes, before] = [requested[at] ?? 0, other.requested[there] ?? 0];
  return Math.max(0, Math.min((bytes - before) / (batch - other.batch), bytes / batch));
}

const keyOf = (run: RecordedRun, allocation: number): string => run.sites[run.site[allocation] ?? 0]?.key ?? '';

function totalBySite({ run, requested }: SizedRun): Map<string, number> {
  const total = new Map<string, number>();
  for (let at = 0; at < run.count; at++)
    total.set(keyOf(run, at), (total.get(keyOf(run, at)) ?? 0) + (requested[at] ?? 0));
  return total;
}

/** For each allocation the one that the other run has in its place, -1: none: step by step in their order, of one line and as one grows. */
function pairsOf(base: BatchRun, other: BatchRun): Int32Array {
  const pair = new Int32Array(base.run.count).fill(-1);
  const places = new Map<string, number>();
  const placesOf = (run: RecordedRun): Int32Array =>
    Int32Array.from({ length: run.count }, (_, at) =>
      remembered(places, `${run.modules[run.module[at] ?? 0]} ${keyOf(run, at)}`, () => places.size),
    );
  const [place, placeThere] = [placesOf(base.run), placesOf(other.run)];
  const scales = scalesOf(base, other);
  const [steps, stepsThere] = [base.run, other.run].map(({ step }) => groupBy(step.keys(), at => step[at] ?? 0));
  for (const [step, own] of steps ?? []) {
    const there = stepsThere?.get(step) ?? [];
    const score = (at: number, beside: number): number => {
      const [one, two] = [own[at] ?? 0, there[beside] ?? 0];
      const bounds = [boundsOf(base, one), boundsOf(other, two)] as const;
      const isAlike = scales.some(scale => shared(...bounds, scale) !== null);
      return Number(place[one] === placeThere[two]) + Number(isAlike);
    };
    pairing(own.length, there.length, score, 2).forEach((beside, at) => {
      if (beside >= 0) pair[own[at] ?? 0] = there[beside] ?? -1;
    });
  }
  return pair;
}
