import type { ProcessInfo, ThreadInfo } from './trace';

/** Of a list of threads, which may be long: where each number stands. */
const places = new WeakMap<readonly ThreadInfo[], Map<number, ThreadInfo>>();

/**
 * The thread that rows and events call `thread` in `process` (-1: several or none). Threads are listed in the order in which the
 * reader met them, which is not that of their numbers: in a log that grows, a busy thread's chunk comes first.
 */
export function findThread(processes: readonly ProcessInfo[], process = -1, thread = -1): ThreadInfo | undefined {
  const threads = processes.find(one => one.index === process)?.threads;
  if (threads === undefined || thread < 0) return undefined;
  let found = places.get(threads);
  if (found?.size !== threads.length) {
    found = new Map(threads.map(one => [one.index, one]));
    places.set(threads, found);
  }
  return found.get(thread);
}
