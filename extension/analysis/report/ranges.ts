import { rangePath } from '../../protocol/ranges';
import type { TraceSource } from '../../protocol/trace';

/**
 * `train_step › attention`: the ranges in which a moment of a process was, of `thread`, or where that was in none (as one of a backward
 * pass) of the first thread that was; empty: there were none.
 */
export function rangesAt(source: TraceSource, process: number, timeNs: number, thread = -1): string {
  const open = source.ranges({ process, fromNs: timeNs, toNs: timeNs + 1 });
  const own = open.filter(range => range.thread === thread);
  const first = Math.min(...open.map(range => range.thread));
  const shown = own.length > 0 ? own : open.filter(range => range.thread === first);
  return rangePath(shown.map(({ name }) => name));
}
