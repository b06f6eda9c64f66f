import type { SiteWindow } from '../../../extension/protocol/trace';

const MB = 1 << 20;

/** A window of one row: 20 MB in two blocks at train.py:41. */
export function siteWindow(changes: Partial<SiteWindow> = {}): SiteWindow {
  return {
    revision: 1,
    total: 1,
    rows: 1,
    sumLiveBytes: 20 * MB,
    sumLiveCount: 2,
    id: Uint32Array.of(5),
    key: ['0000000000000005'],
    liveBytes: Float64Array.of(20 * MB),
    liveCount: Float64Array.of(2),
    peakBytes: Float64Array.of(30 * MB),
    allocations: Float64Array.of(3),
    frees: Float64Array.of(1),
    allocatedBytes: Float64Array.of(40 * MB),
    growth: Float64Array.of(0),
    spark: new Float64Array(16),
    thread: Int32Array.of(2),
    process: Int32Array.of(3),
    device: Int32Array.of(1),
    file: ['/home/a/train.py'],
    line: Uint32Array.of(41),
    function: ['forward'],
    source: ['python'],
    library: [''],
    label: ['python:99'],
    ...changes,
  };
}
