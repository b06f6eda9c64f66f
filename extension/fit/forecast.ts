import type { AllocatorReplay, AllocatorSettings, NativeAddon } from '../native/native';
import { readSettings } from './allocatorSettings';
import { asRecorded, type Planned } from './calls';
import { checkpointed, repeatedModules } from './checkpointing';
import { byFactor, byTwoRuns, type BatchRun } from './otherBatch';
import { replayPlanned, type Replayed } from './replay';

// What a run would take if something about it changed, and the biggest batch that fits then.

/** What is changed; null: nothing of this kind. */
export interface Change {
  /** As in PYTORCH_CUDA_ALLOC_CONF. */
  allocator: string | null;
  /** Paths of modules, such as `layers.*`. */
  checkpoint: string | null;
  /** As a multiple of the recorded batch. */
  factor: number;
}
export interface Forecast extends Change {
  /** That are checkpointed. */
  modules: number;
  /** Reserved by PyTorch's allocator at its peak. */
  reservedBytes: number;
  allocatedBytes: number;
  /** With what lies outside PyTorch's cache. */
  totalBytes: number;
  fits: boolean;
  /** The biggest multiple of the recorded batch that fits; null: not even one of it does. */
  largestFactor: number | null;
}

export const UNCHANGED: Change = { allocator: null, checkpoint: null, factor: 1 };
const SMALLEST_STEP = 1 / 64;
const MOST_FACTOR = 1 << 16;

/** The run of a forecast, what it ran with, and the room that there is. */
export interface Fitting {
  replayed: Replayed;
  /** By how sizes follow the batch; null: by this run alone. */
  other: { base: BatchRun; run: BatchRun } | null;
  /** Of the run; null: not known. */
  batch: number | null;
  /** What the allocator may hold. */
  limitBytes: number;
  outsideBytes: number;
}

type Allocator = Pick<NativeAddon, 'replayAllocator' | 'findPools'>;
type Sizes = (planned: readonly Planned[], factor: number) => Planned[];

/** What answers for changes of one run. */
export function forecaster(addon: Allocator, fitting: Fitting): (change: Change) => Forecast | { error: string } {
  const { replayed, other, batch, limitBytes, outsideBytes } = fitting;
  const sizes = sizesBy(replayed, other);
  const recorded = asRecorded(replayed.run, replayed.requested);
  return change => {
    const settings = change.allocator === null ? {} : readSettings(change.allocator);
    if ('error' in settings) return settings;
    const plan = (factor: number): ReturnType<typeof checkpointed> => {
      const planned = factor === 1 ? recorded : sizes(recorded, factor);
      if (change.checkpoint === null) return { planned, modules: 0 };
      return checkpointed(replayed.run, planned, change.checkpoint);
    };
    const replay = (factor: number, limit: AllocatorSettings): AllocatorReplay =>
      replayPlanned(addon, replayed, plan(factor).planned, { ...settings, ...limit });
    const { reservedPeakBytes, allocatedPeakBytes } = replay(change.factor, {});
    const fits = (factor: number): boolean => replay(factor, { limitBytes }).failedCall === null;
    return {
      ...change,
      modules: plan(1).modules,
      reservedBytes: reservedPeakBytes,
      allocatedBytes: allocatedPeakBytes,
      totalBytes: reservedPeakBytes + outsideBytes,
      fits: fits(change.factor),
      largestFactor: largest(fits, batch === null ? SMALLEST_STEP : 1 / batch),
    };
  };
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
  ];
  const same = (a: Change, b: Change): boolean => a.allocator === b.allocator && a.checkpoint === b.checkpoint;
  return changes.filter((change, at) => changes.findIndex(other => same(change, other)) === at);
}

function sizesBy(replayed: Replayed, other: Fitting['other']): Sizes {
  if (other === null) return (planned, factor) => byFactor(replayed, planned, factor);
  const atBatch = byTwoRuns(other.base, other.run);
  return (planned, factor) => atBatch(planned, factor * other.base.batch);
}

/** The biggest multiple of `step` that fits, as far as more takes more; null: not even the smallest does. */
function largest(fits: (factor: number) => boolean, step: number): number | null {
  if (!fits(step)) return null;
  let low = 1; // in steps
  let high = 2;
  while (high * step < MOST_FACTOR && fits(high * step)) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle * step)) low = middle;
    else high = middle;
  }
  return low * step;
}
