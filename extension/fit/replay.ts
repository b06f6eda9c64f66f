import { remembered } from '../base/maps';
import type { AllocatorCalls, AllocatorReplay, AllocatorSettings, NativeAddon } from '../native/native';
import { allocatorSettings } from '../protocol/rank';
import type { TraceInfo } from '../protocol/trace';
import { asRecorded, callsOf, type CallOrder, orderOf } from './calls';
import { readSettings } from './allocatorSettings';
import { readRun, type RecordedRun } from './recordedRun';
import { largestBuffer } from './reductionBuffers';
import { requestSizes } from './requestSizes';

// A run given to the allocator's rules: as it was, which shows whether they hold for it, and changed.

type Allocator = Pick<NativeAddon, 'replayAllocator' | 'findPools'>;

export interface Replayed {
  run: RecordedRun;
  settings: AllocatorSettings;
  /** By allocation, what was requested. */
  requested: Float64Array;
  /** By allocation, 1: its block is what was requested. */
  exact: Uint8Array;
  /** The largest buffer for the parts of a sum on its GPU; Infinity: not known. */
  largestBuffer: number;
  /** Which stream or pool of graphs served each allocation. */
  pool: Uint32Array;
  pools: number;
  /** What the driver gave by the trace, at the most. */
  recordedPeakBytes: number;
  /** What it would give by the rules, at the most. */
  peakBytes: number;
  /** Of the blocks in use, at the most. */
  allocatedPeakBytes: number;
  /** That the recording saw begin. */
  allocations: number;
  /** Of them, those after which both are equal. */
  equal: number;
  /** Requests that did not fit. */
  failed: number;
}

/** Of the allocations, after which a replay must be as recorded. */
const LEAST_EQUAL = 0.95;

/** Whether a forecast can be held against a limit that the run met. */
export const isExact = ({ equal, allocations }: Replayed): boolean => equal >= allocations * LEAST_EQUAL;

/** Reads the run of a process on a GPU, before a step, and replays it. `path`: as `open` takes it. The error is the end of a sentence. */
export async function replayTrace(
  addon: Allocator & Pick<NativeAddon, 'openLifetimes'>,
  path: string,
  { processes, devices }: Pick<TraceInfo, 'processes' | 'devices'>,
  { process, device, untilStep }: { process: number; device: number; untilStep?: number | undefined },
): Promise<Replayed | { error: string }> {
  const own = readSettings(allocatorSettings(processes[process] ?? { notes: [] }));
  if ('error' in own) return { error: `it ran with ${own.error}` };
  const cursor = addon.openLifetimes(path);
  const run = await readRun(cursor, process, device, untilStep).finally(() => cursor.close());
  if ('error' in run) return run;
  const replayed = replayRecorded(addon, run, { ...own, ...(run.expandable && { expandableSegments: true }) });
  return { ...replayed, largestBuffer: largestBuffer(devices.find(({ index }) => index === device)?.name ?? '') };
}

/** Replays a run as it was recorded. */
export function replayRecorded(addon: Allocator, run: RecordedRun, settings: AllocatorSettings): Replayed {
  // Recorded sizes are rounded already.
  const own = { ...settings, roundupPower2Divisions: 0 };
  const order = orderOf(run, asRecorded(run));
  // Nothing is freed where nothing was allocated.
  const recordedBytes = run.bytes.map((bytes, at) => (run.failed[at] === 1 ? 0 : bytes));
  const calls = { ...callsOf(order, recordedBytes, new Uint32Array(0)), address: run.address, earlier: earlierOf(run) };
  const found = run.expandable ? null : addon.findPools(calls, own);
  const pool = found?.pool ?? new Uint32Array(0);
  // Expandable segments are cut to what is requested.
  const exact = found?.exact ?? new Uint8Array(run.count).fill(1);
  const requested = found === null ? run.bytes : requestSizes(run, exact);
  const earlier = { ...calls.earlier, ...(found !== null && { pool: found.segmentPool }) };
  const { reservedBytes, reservedPeakBytes, allocatedPeakBytes } = addon.replayAllocator(
    { ...calls, pool, earlier },
    own,
  );
  const recorded = recordedReserved(run);
  let equal = 0;
  calls.bytes.forEach((bytes, call) => {
    const allocation = calls.allocation[call] ?? 0;
    if (bytes <= 0 || allocation < run.earlier) return;
    if (recorded.at(run.begin[allocation] ?? 0) === reservedBytes[call]) equal++;
  });
  const pools = pool.reduce((most, one) => Math.max(most, one + 1), 1);
  const failed = run.failed.reduce((total, one) => total + one, 0);
  const allocations = run.count - run.earlier - failed;
  return {
    ...{ run, settings, requested, exact, pool, pools, allocations, equal, failed },
    ...{ recordedPeakBytes: recorded.peak, peakBytes: reservedPeakBytes, allocatedPeakBytes, largestBuffer: Infinity },
  };
}

function earlierOf({ segments, earlier, expandable }: RecordedRun): NonNullable<AllocatorCalls['earlier']> {
  const there = expandable ? [] : segments.filter(one => one.earlier);
  return {
    calls: earlier,
    address: Float64Array.from(there, one => one.address),
    bytes: Float64Array.from(there, one => one.bytes),
    pool: new Uint32Array(0),
  };
}

/**
 * What changed calls take, under the run's settings and those that differ; `bytes`: by allocation of the run. `areRecorded`: they are as
 * recorded, so that segments come to lie where they were.
 */
export function replayChanged(
  addon: Allocator,
  { run, settings, pool }: Replayed,
  order: CallOrder,
  bytes: Float64Array,
  changed: AllocatorSettings = {},
  areRecorded = false,
): AllocatorReplay {
  const calls = callsOf(order, bytes, pool);
  if (!areRecorded) return addon.replayAllocator(calls, { ...settings, ...changed });
  const places = placesOf(run);
  const address = Float64Array.from(order.of, (of, at) => (order.stream[at] === 0 ? (places[of] ?? 0) : 0));
  return addon.replayAllocator({ ...calls, address }, { ...settings, ...changed });
}

/** Above all places that the replay chooses itself. */
const FIRST_PLACE = 2 ** 52;
const ALL_PLACES = 2 ** 51;
const known = new WeakMap<RecordedRun, Float64Array>();

/** By allocation a place in the order of its address, with room for a segment of any size between two. */
function placesOf(run: RecordedRun): Float64Array {
  return remembered(known, run, () => {
    const sorted = [...new Set(run.address)].sort((a, b) => a - b);
    const places = new Map(
      sorted.map((address, at) => [address, FIRST_PLACE + at * Math.floor(ALL_PLACES / sorted.length)]),
    );
    return run.address.map(address => places.get(address) ?? 0);
  });
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
