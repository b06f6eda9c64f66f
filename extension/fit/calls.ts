import type { AllocatorCalls } from '../native/native';
import type { RecordedRun } from './recordedRun';

// The order in which a program calls the allocator, recorded or changed.

/** An allocation as a plan has it. */
export interface Planned {
  /** Of the run. */
  allocation: number;
  /** As in the run; between two places of it where something is made again. */
  begin: number;
  end: number;
  bytes: number;
}

interface Call {
  place: number;
  /** Of what happens at one time: frees first. */
  order: number;
  allocation: number;
  bytes: number;
}

/** The calls of what is planned, and of the cache that was emptied where segments ended. `pool`: by allocation of the run. */
export function callsOf(run: RecordedRun, planned: readonly Planned[], pool: Uint32Array): AllocatorCalls {
  const calls: Call[] = [];
  planned.forEach(({ begin, end, bytes }, allocation) => {
    if (bytes <= 0 || end <= begin) return;
    calls.push({ place: begin, order: 1, allocation, bytes });
    if (end !== Infinity) calls.push({ place: end, order: 0, allocation, bytes: 0 });
  });
  for (const { end } of run.segments)
    if (end !== Infinity) calls.push({ place: end, order: 0, allocation: 0, bytes: -1 });
  calls.sort((a, b) => a.place - b.place || a.order - b.order);
  return {
    allocation: Uint32Array.from(calls, call => call.allocation),
    bytes: Float64Array.from(calls, call => call.bytes),
    pool: Uint32Array.from(planned, one => pool[one.allocation] ?? 0),
    address: new Float64Array(0),
  };
}

/** The run as it was recorded; `bytes`: other sizes, by allocation. */
export function asRecorded(run: RecordedRun, bytes = run.bytes): Planned[] {
  return Array.from({ length: run.count }, (_, allocation) => ({
    allocation,
    begin: run.begin[allocation] ?? 0,
    end: run.end[allocation] ?? Infinity,
    bytes: bytes[allocation] ?? 0,
  }));
}
