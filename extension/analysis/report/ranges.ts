import { rangePath } from '../../protocol/ranges';
import type { TraceSource } from '../../protocol/trace';

/**
 * `train_step › attention`: where a moment of a process was, by the ranges of `thread`, or where that is in none (as one of a backward
 * pass) of the first thread that is; empty: none is.
 */
export function rangesAt(source: TraceSource, process: number, timeNs: number, thread = -1): string {
  const open = source.ranges({ process, fromNs: timeNs, toNs: timeNs + 1 });
  const first = Math.min(...open.map(range => range.thread));
  const whose = open.some(range => range.thread === thread) ? thread : first;
  return rangePath(
    open.filter(range => range.thread === whose),
    timeNs,
  );
}
