import { remembered } from '../base/maps';
import type { AllocatorReplay, AllocatorSettings, NativeAddon } from '../native/native';
import { accumulated } from './accumulation';
import { readSettings } from './allocatorSettings';
import { around, asRecorded, type CallOrder, orderOf, type Planned } from './calls';
import { checkpointed } from './checkpointing';
import { withHalfParameters } from './halfParameters';
import { freedWithStep, updatedOneByOne, withoutGradients, withStates } from './otherLifetimes';
import { byFactor, byTwoRuns, type BatchRun } from './otherBatch';
import { repeatedModules } from './repeatedModules';
import { replayChanged, type Replayed } from './replay';
import { sharded } from './sharding';

// What a run would take if something about it changed, and the biggest batch that fits then.

/** What is changed; null: nothing of this kind. */
export interface Change {
  /** As in PYTORCH_CUDA_ALLOC_CONF. */
  allocator: string | null;
  /** Paths of modules, such as `layers.*`. */
  checkpoint: string | null;
  /** As a multiple of the recorded batch. */
  factor: number;
  /** Parts in which a batch is computed, with their gradients added up; 1: at once. */
  parts: number;
  /** What the optimizer's states take, as a share of what they took; 1: the same. */
  stateShare: number;
  /** The optimizer updates one parameter after the other (`foreach=False`). */
  oneByOne: boolean;
  /** Parameters in bfloat16. */
  halfParameters: boolean;
  /** Gradients are freed at the end of a step (`set_to_none=True`). */
  gradientsFreed: boolean;
  /** A line, such as `train.py:38`, whose allocations are freed at the end of their step; null: none. */
  freedLine: string | null;
  /** That share the model (FSDP); 1: it is whole. */
  ranks: number;
}
export interface Forecast extends Change, Largest {
  /** That are checkpointed. */
  modules: number;
  /** What is changed, and of which the run has nothing; empty: it has all. */
  absent: (keyof Change)[];
  /** Reserved by PyTorch's allocator at its peak. */
  reservedBytes: number;
  allocatedBytes: number;
  /** Reserved if sizes are a little smaller or larger, at the least and at the most; as reserved where this is not looked at. */
  leastBytes: number;
  mostBytes: number;
  /** With what lies outside PyTorch's cache. */
  totalBytes: number;
  fits: boolean;
}
interface Largest {
  /** The biggest multiple of the recorded batch that fits; null: not even one of it does. */
  largestFactor: number | null;
  /** The calls around the peak that this was searched on; null: on all. */
  searchedCalls: number | null;
}

export const UNCHANGED: Change = {
  ...{ allocator: null, checkpoint: null, factor: 1, parts: 1, stateShare: 1 },
  ...{ oneByOne: false, halfParameters: false, gradientsFreed: false, freedLine: null, ranks: 1 },
};
/** Of a batch of unknown size; of many times that batch, in such parts. */
const [SMALLEST_STEP, LARGER_STEP, MANY] = [1 / 64, 1 / 8, 8];
const MOST_FACTOR = 1 << 16;
/** Of a search, as a share. */
const STRIDE = 1 / 8;
/** By so much, as a share, sizes are varied to see what depends on small differences. */
export const VARIED = 0.005;
/** Places beyond the largest batch that was found, at which a larger one is tried. */
const LOOKS = 12;
/** Calls of a long run, the largest batch is searched on; all of them would take minutes. */
const MOST_SEARCHED = 100_000;

type ReplayedBatch = Replayed & BatchRun;

/** The run of a forecast, what it ran with, and the room that there is. */
export interface Fitting {
  replayed: Replayed;
  /** By how sizes follow the batch; null: by this run alone. */
  other: { base: ReplayedBatch; run: ReplayedBatch } | null;
  /** Of the run; null: not known. */
  batch: number | null;
  /** What the allocator may hold. */
  limitBytes: number;
  outsideBytes: number;
}

type Allocator = Pick<NativeAddon, 'replayAllocator' | 'findPools'>;

/** What answers for changes of one run; `isVaried`: also with sizes that differ a little, unless the run is long. */
export function forecaster(
  addon: Allocator,
  fitting: Fitting,
): (change: Change, isVaried?: boolean) => Forecast | { error: string } {
  const larger = forecasterOf(addon, fitting);
  if (fitting.other === null) return larger;
  const { base, run } = fitting.other;
  const smaller = forecasterOf(addon, { ...fitting, replayed: run, other: { base: run, run: base }, batch: run.batch });
  const ratio = base.batch / run.batch;
  return (change, isVaried = false) => {
    // A batch that is nearer to the other run's is computed as that was; the largest one is always of the larger run.
    const isNearer = (change.factor / change.parts) ** 2 < 1 / ratio;
    const answer = larger(change, isVaried && !isNearer);
    if ('error' in answer || !isNearer) return answer;
    const nearer = smaller({ ...change, factor: change.factor * ratio }, isVaried, false);
    if ('error' in nearer) return nearer;
    const { factor, largestFactor, searchedCalls } = answer;
    return { ...nearer, factor, largestFactor, searchedCalls };
  };
}

/** As `forecaster`, from the first of the runs. */
function forecasterOf(
  addon: Allocator,
  fitting: Fitting,
): (change: Change, isVaried?: boolean, isSearched?: boolean) => Forecast | { error: string } {
  const { replayed, other, batch, limitBytes, outsideBytes } = fitting;
  const sizes = other === null ? byFactor(replayed) : byTwoRuns(other.base, other.run);
  const planOf = plansOf(replayed);
  const searched = new Map<string, Largest>();
  return (change, isVaried = false, isSearched = true) => {
    const settings = change.allocator === null ? {} : readSettings(change.allocator);
    if ('error' in settings) return settings;
    const { order, modules, absent } = planOf(change);
    const sizesOf = (factor: number): Float64Array => sizes(factor / change.parts);
    const replay = (calls: CallOrder, factor: number, limit: AllocatorSettings): AllocatorReplay =>
      replayChanged(addon, replayed, calls, sizesOf(factor), { ...settings, ...limit }, factor === change.parts);
    const fits = (calls: CallOrder, factor: number): boolean =>
      replay(calls, factor, { limitBytes }).failedCall === null;
    const peak = replay(order, change.factor, {});
    const unchanged = change.factor === 1 && keyOf(change) === keyOf(UNCHANGED);
    const isRecorded = unchanged && replayed.failed === 0 && replayed.recordedPeakBytes > 0;
    const reservedPeakBytes = isRecorded ? replayed.recordedPeakBytes : peak.reservedPeakBytes;
    const long = order.kind.length > MOST_SEARCHED;
    // Under other settings alone, each size is known.
    const known = change.factor === 1 && keyOf({ ...change, allocator: null }) === keyOf(UNCHANGED);
    const shares = !isVaried || known || long ? [] : [-VARIED, -VARIED / 2, VARIED / 2, VARIED];
    const near = shares.map(share => replay(order, change.factor * (1 + share), {}).reservedPeakBytes);
    const search = (): Largest => {
      const nearest = (change.factor * limitBytes) / reservedPeakBytes;
      const call = long ? replay(order, Math.max(1, nearest), {}).allocatedPeakCall : 0;
      const part = long ? around(order, call, MOST_SEARCHED * 0.75, MOST_SEARCHED * 0.25) : order;
      const share = nearest < MANY ? SMALLEST_STEP : LARGER_STEP;
      const step = change.parts * (batch === null ? share : 1 / batch);
      const largestFactor = largest(factor => fits(part, factor), step, nearest);
      return { largestFactor, searchedCalls: long ? MOST_SEARCHED : null };
    };
    const none: Largest = { largestFactor: null, searchedCalls: null };
    const best = isSearched ? remembered(searched, keyOf(change), search) : none;
    return {
      ...change,
      modules,
      absent,
      reservedBytes: reservedPeakBytes,
      allocatedBytes: isRecorded ? replayed.allocatedPeakBytes : peak.allocatedPeakBytes,
      leastBytes: Math.min(reservedPeakBytes, ...near),
      mostBytes: Math.max(reservedPeakBytes, ...near),
      totalBytes: reservedPeakBytes + outsideBytes,
      fits: reservedPeakBytes <= limitBytes || fits(order, change.factor),
      ...best,
    };
  };
}

/** All of a change but the batch. */
export const keyOf = (change: Change): string => JSON.stringify({ ...change, factor: 1 }, Object.keys(UNCHANGED));

interface Plan {
  order: CallOrder;
  modules: number;
  absent: (keyof Change)[];
}

/** The calls of the run with all that is changed but sizes. */
function plansOf(sized: Replayed): (change: Change) => Plan {
  const known = new Map<string, Plan>();
  const { run } = sized;
  const recorded = asRecorded(run);
  const planOf = ({
    checkpoint,
    parts,
    stateShare,
    oneByOne,
    halfParameters,
    gradientsFreed,
    freedLine,
    ranks,
  }: Change): Plan => {
    let modules = 0;
    const absent: (keyof Change)[] = [];
    const steps: readonly (readonly [
      keyof Change,
      boolean,
      (planned: Planned[]) => { planned: Planned[]; found: number },
    ])[] = [
      ['freedLine', freedLine !== null, planned => freedWithStep(run, planned, freedLine ?? '')],
      ['gradientsFreed', gradientsFreed, planned => withoutGradients(run, planned)],
      ['checkpoint', checkpoint !== null, planned => checkpointed(sized, planned, checkpoint ?? '')],
      ['halfParameters', halfParameters, planned => withHalfParameters(sized, planned)],
      ['stateShare', stateShare !== 1, planned => withStates(run, planned, stateShare)],
      ['oneByOne', oneByOne, planned => updatedOneByOne(run, planned)],
      ['parts', parts > 1, planned => accumulated(run, planned)],
      ['ranks', ranks > 1, planned => sharded(run, planned, ranks)],
    ];
    const planned = steps.reduce((before, [name, isChanged, change]) => {
      if (!isChanged) return before;
      const after = change(before);
      if (after.found === 0) absent.push(name);
      if (name === 'checkpoint') modules = after.found;
      return after.planned;
    }, recorded);
    return { order: orderOf(run, planned), modules, absent };
  };
  return change => remembered(known, keyOf({ ...change, allocator: null }), () => planOf(change));
}

/** The changes that are worth a look in any run, the unchanged one first. */
export function usualChanges({ run }: Replayed): Change[] {
  const [modules] = repeatedModules(run);
  const allocator = run.expandable ? null : 'expandable_segments:True';
  const checkpoint = modules?.pattern ?? null;
  const changes = [
    UNCHANGED,
    { ...UNCHANGED, allocator },
    { ...UNCHANGED, checkpoint },
    { ...UNCHANGED, allocator, checkpoint },
    { ...UNCHANGED, parts: 2 },
  ];
  return changes.filter((change, at) => changes.findIndex(other => keyOf(change) === keyOf(other)) === at);
}

/** The biggest multiple of `step` that fits; null: not even the smallest does. Searched from a guess. */
function largest(fits: (factor: number) => boolean, step: number, guess: number): number | null {
  const most = MOST_FACTOR / step;
  const begin = Math.min(most, Math.max(1, Math.round(guess / step)));
  let [low, high] = [0, most]; // in steps
  const narrow = (): void => {
    while (high - low > 1 && low > 0) {
      const middle = (low + high) >> 1;
      if (fits(middle * step)) low = middle;
      else high = middle;
    }
  };
  for (let at = begin; low === 0 && at > 0; at = Math.floor(at * (1 - STRIDE))) {
    if (fits(at * step)) low = at;
    else high = at;
  }
  if (low === begin)
    for (let at = Math.ceil(begin * (1 + STRIDE)); high === most && at < most; at = Math.ceil(at * (1 + STRIDE))) {
      if (fits(at * step)) low = at;
      else high = at;
    }
  narrow();
  // More may fit where less does not, as it lies better in the cache: up to an eighth more is looked at.
  const looks = Array.from({ length: LOOKS }, (_, at) => 1 + (STRIDE * (at + 1)) / LOOKS);
  const beyond = (): number | undefined =>
    looks.map(times => Math.round(low * times)).find(at => at > high && at <= most && fits(at * step));
  for (let at = low === 0 ? undefined : beyond(); at !== undefined; at = beyond()) {
    [low, high] = [at, Math.round(at * (1 + STRIDE / LOOKS))];
    narrow();
  }
  return low === 0 ? null : low * step;
}
