import type { AllocatorReplay, AllocatorSettings, NativeAddon } from '../native/native';
import { asRecorded, callsOf, type Planned } from './calls';
import type { RecordedRun } from './recordedRun';
import { requestSizes } from './requestSizes';

// A run given to the allocator's rules: as it was, which shows whether they hold for it, and changed.

/** Expandable segments are cut to what is requested. */
const ALL_KNOWN = { pool: new Uint32Array(0), exact: new Uint8Array(0) };

type Allocator = Pick<NativeAddon, 'replayAllocator' | 'findPools'>;

export interface Replayed {
  run: RecordedRun;
  settings: AllocatorSettings;
  /** By allocation, what was requested. */
  requested: Float64Array;
  /** Which stream or pool of graphs served each allocation. */
  pool: Uint32Array;
  pools: number;
  /** What the driver gave by the trace, at the most. */
  recordedPeakBytes: number;
  /** What it would give by the rules, at the most. */
  peakBytes: number;
  /** Allocations after which both are equal, of all. */
  equal: number;
}

/** Replays a run as it was recorded. */
export function replayRecorded(addon: Allocator, run: RecordedRun, settings: AllocatorSettings): Replayed {
  // Recorded sizes are rounded already.
  const own = { ...settings, roundupPower2Divisions: 0 };
  const planned = asRecorded(run);
  const calls = { ...callsOf(run, planned, new Uint32Array(0)), address: run.address };
  const { pool, exact } = run.expandable ? ALL_KNOWN : addon.findPools(calls, own);
  const requested = run.expandable ? run.bytes : requestSizes(run, exact);
  const { reservedBytes, reservedPeakBytes } = addon.replayAllocator({ ...calls, pool }, own);
  const recorded = recordedReserved(run);
  let equal = 0;
  calls.bytes.forEach((bytes, call) => {
    if (bytes > 0 && recorded.at(run.begin[calls.allocation[call] ?? 0] ?? 0) === reservedBytes[call]) equal++;
  });
  const pools = pool.reduce((most, one) => Math.max(most, one + 1), 1);
  return {
    run,
    settings,
    requested,
    pool,
    pools,
    recordedPeakBytes: recorded.peak,
    peakBytes: reservedPeakBytes,
    equal,
  };
}

/** What a changed plan takes, under the run's settings and those that differ. */
export function replayPlanned(
  addon: Allocator,
  { run, settings, pool }: Replayed,
  planned: readonly Planned[],
  changed: AllocatorSettings = {},
): AllocatorReplay {
  return addon.replayAllocator(callsOf(run, planned, pool), { ...settings, ...changed });
}

function recordedReserved({ segments }: RecordedRun): { at: (place: number) => number; peak: number } {
  const changes = segments
    .flatMap(({ bytes, begin, end }) => [
      { place: begin, bytes },
      { place: end, bytes: -bytes },
    ])
    .filter(({ place }) => place !== Infinity)
    .toSorted((a, b) => a.place - b.place);
  const sums = new Float64Array(changes.length);
  let [sum, peak] = [0, 0];
  changes.forEach(({ bytes }, at) => {
    sum += bytes;
    sums[at] = sum;
    peak = Math.max(peak, sum);
  });
  let last = 0; // places are looked up in their order
  const at = (place: number): number => {
    while (last < changes.length && (changes[last]?.place ?? Infinity) < place) last++;
    return sums[last - 1] ?? 0;
  };
  return { at, peak };
}
