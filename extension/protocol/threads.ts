import type { ProcessInfo, ThreadInfo } from './trace';

/**
 * The thread that rows and events call `thread` in `process` (-1: several or none). Threads are listed in the order in which the
 * reader met them, which is not that of their indices: a log that grows tells of a busy thread's chunk first.
 */
export function findThread(processes: readonly ProcessInfo[], process = -1, thread = -1): ThreadInfo | undefined {
  return processes.find(one => one.index === process)?.threads.find(one => one.index === thread);
}
