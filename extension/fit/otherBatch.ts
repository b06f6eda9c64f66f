import { groupBy, remembered } from '../base/maps';
import { categoryOf, type RecordedRun } from './recordedRun';

// What each allocation takes with another batch: by two runs exactly where the bytes follow the batch, by one run by what it is for.

const ROUNDING = 512;
/** Such small tensors hold counts, scales and the like. */
const SMALL_BYTES = 4096;
const MODEL = new Set(['parameter', 'gradient', 'optimizer', 'buffer', 'workspace']);

/** A run, and what was requested by allocation. */
interface SizedRun {
  run: RecordedRun;
  requested: Float64Array;
}

/** As the allocator does. */
export const rounded = (bytes: number): number => Math.max(ROUNDING, Math.ceil(bytes / ROUNDING) * ROUNDING);

/** Bytes of each allocation of a run, with its batch times a factor. */
export type Sizes = (factor: number) => Float64Array;

/** By one run: what belongs to the model stays, all else grows by the factor. It may be less: libraries choose workspaces of their own. */
export function byFactor({ run, requested }: SizedRun): Sizes {
  const own = parameterSizes(run, requested);
  const grows = Uint8Array.from(requested, (bytes, at) => {
    const stays =
      MODEL.has(categoryOf(run, at)) ||
      run.sites[run.site[at] ?? 0]?.pass === 'optimizer' ||
      bytes <= SMALL_BYTES ||
      own.get(run.module[at] ?? 0)?.has(bytes) === true;
    return stays ? 0 : 1;
  });
  return factor => requested.map((bytes, at) => (grows[at] === 1 && factor !== 1 ? rounded(bytes * factor) : bytes));
}

/** By module, what has the size of one of its parameters: copies in half the precision or twice that, and gradients before they have a name. */
function parameterSizes(run: RecordedRun, requested: Float64Array): Map<number, Set<number>> {
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

/** By two runs: bytes as a + b × batch for each allocation of `base`, which the other has too. */
export function byTwoRuns(base: BatchRun, other: BatchRun): Sizes {
  const slope = slopesOf(base, other);
  return factor =>
    base.requested.map((bytes, at) =>
      factor === 1 ? bytes : rounded(bytes + (slope[at] ?? 0) * base.batch * (factor - 1)),
    );
}

/** Bytes by which each allocation of the run grows with the batch. */
function slopesOf({ run, requested, batch }: BatchRun, other: BatchRun): Float64Array {
  const pair = pairsOf(run, other.run);
  const totals = [totalBySite(run, requested), totalBySite(other.run, other.requested)] as const;
  const slopes = new Float64Array(run.count);
  const alike = new Map<string, number>(); // of the same line and size, in a step that could be paired
  const size = (at: number): string => `${run.site[at]} ${requested[at]}`;
  for (let at = 0; at < run.count; at++) {
    const there = pair[at] ?? -1;
    if (there < 0) continue;
    const slope = ((requested[at] ?? 0) - (other.requested[there] ?? 0)) / (batch - other.batch);
    slopes[at] = slope;
    alike.set(size(at), slope);
  }
  for (let at = 0; at < run.count; at++) {
    if ((pair[at] ?? -1) >= 0) continue;
    const key = keyOf(run, at);
    const [own = 0, others = 0] = totals.map(total => total.get(key));
    // What the other run has not as often grows as its line does.
    const ofLine = own === 0 || others === 0 ? 0 : ((requested[at] ?? 0) * (1 - others / own)) / (batch - other.batch);
    slopes[at] = alike.get(size(at)) ?? ofLine;
  }
  return slopes;
}

const keyOf = (run: RecordedRun, allocation: number): string => run.sites[run.site[allocation] ?? 0]?.key ?? '';

/** Its module and line. */
const placeOf = (run: RecordedRun, allocation: number): string =>
  `${run.modules[run.module[allocation] ?? 0]} ${keyOf(run, allocation)}`;

function totalBySite(run: RecordedRun, requested: Float64Array): Map<string, number> {
  const total = new Map<string, number>();
  for (let at = 0; at < run.count; at++)
    total.set(keyOf(run, at), (total.get(keyOf(run, at)) ?? 0) + (requested[at] ?? 0));
  return total;
}

/** For each allocation the one that the other run has in its place, -1: none. In steps of equal length by order, else by line. */
function pairsOf(run: RecordedRun, other: RecordedRun): Int32Array {
  const pair = new Int32Array(run.count).fill(-1);
  const [own, others] = [run, other].map(({ step }) => groupBy(step.keys(), at => step[at] ?? 0));
  for (const [step, allocations] of own ?? []) {
    const there = others?.get(step) ?? [];
    if (there.length === allocations.length) {
      allocations.forEach((at, place) => (pair[at] = there[place] ?? -1));
      continue;
    }
    const free: Map<string, number[]> = groupBy(there.toReversed(), at => placeOf(other, at));
    for (const at of allocations) pair[at] = free.get(placeOf(run, at))?.pop() ?? -1;
  }
  return pair;
}
