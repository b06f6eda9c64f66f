import { siteWindow as windowOf, type SiteWindow } from '../../../extension/protocol/trace';

const MB = 1 << 20;

/** A window of one row: 20 MB in two blocks at train.py:41. */
export function siteWindow(changes: Partial<SiteWindow> = {}): SiteWindow {
  const row = {
    id: 5,
    key: '0000000000000005',
    liveBytes: 20 * MB,
    liveCount: 2,
    peakBytes: 30 * MB,
    allocations: 3,
    frees: 1,
    allocatedBytes: 40 * MB,
    thread: 2,
    process: 3,
    device: 1,
    file: '/home/a/train.py',
    line: 41,
    function: 'forward',
    label: 'python:99',
  };
  return windowOf([row], { sumLiveBytes: 20 * MB, sumLiveCount: 2, ...changes });
}
