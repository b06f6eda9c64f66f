// Runs of a few allocations, as a recording has them.
import { CATEGORIES, type Category, type Pass } from '../../../extension/protocol/trace';
import type { SizedRun } from '../../../extension/fit/otherBatch';
import type { RecordedRun, RunSegment } from '../../../extension/fit/recordedRun';

export interface Made {
  bytes: number;
  begin: number;
  /** Absent: alive at the end. */
  end?: number;
  category?: Category;
  module?: string;
  step?: number;
  /** Of the site. */
  key?: string;
  pass?: Pass;
  /** Of the program's own code. */
  line?: string;
}

export function madeRun(allocations: readonly Made[], segments: readonly RunSegment[] = []): RecordedRun {
  const modules = ['', ...new Set(allocations.map(({ module = '' }) => module).filter(path => path !== ''))];
  const column = (of: (one: Made, at: number) => number): Float64Array => Float64Array.from(allocations, of);
  return {
    count: allocations.length,
    address: column((_, at) => (at + 1) * 2 ** 30),
    bytes: column(({ bytes }) => bytes),
    begin: column(({ begin }) => begin),
    end: column(({ end = Infinity }) => end),
    step: column(({ step = 1 }) => step),
    site: Uint32Array.from(allocations, (_, at) => at),
    category: Uint8Array.from(allocations, ({ category = 'other' }) => CATEGORIES.indexOf(category)),
    module: Uint32Array.from(allocations, ({ module = '' }) => modules.indexOf(module)),
    modules,
    sites: allocations.map(({ key = '', pass = 'other', line = '' }) => ({ key, pass, line })),
    segments: [...segments],
    expandable: false,
    earlier: 0,
    failed: new Uint8Array(allocations.length),
  };
}

/** What was requested is what is recorded, but for allocations that have a larger block for all that is known. */
export function sized(run: RecordedRun, open: readonly number[] = []): SizedRun {
  const exact = Uint8Array.from({ length: run.count }, (_, at) => (open.includes(at) ? 0 : 1));
  return { run, requested: run.bytes, exact, largestBuffer: Infinity };
}
