import { traceRoots } from '../capture/traces/folders';
import { findTrace, type NamedTrace } from '../capture/traces/runningTraces';
import { closeTrace, openTrace, type Opened } from '../jobs/openTraceFile';
import { refuse } from './output/output';

/** A trace with all that was recorded until now, and the processes in it that are meant (their indices). */
export interface OpenTrace extends NamedTrace, Opened {
  processes: number[];
}

/** Works with the trace that a PID or a path names. An error, one sentence, is printed; the exit status is then 1. */
export async function withNamed(
  where: string,
  dist: string,
  use: (opened: OpenTrace) => Promise<number | { error: string }>,
): Promise<number> {
  const opened = await openNamed(where, dist);
  if ('error' in opened) return refuse(opened.error, 1);
  try {
    if (opened.processes.length === 0)
      return refuse(`${where} has not used CUDA yet, so there is nothing to query.`, 1);
    const result = await use(opened);
    return typeof result === 'number' ? result : refuse(result.error, 1);
  } finally {
    closeTrace(opened);
  }
}

/** Opens the trace that a PID or a path names. The error is one sentence. */
export async function openNamed(where: string, dist: string): Promise<OpenTrace | { error: string }> {
  const named = findTrace(where, traceRoots(process.env, process.getuid?.() ?? 0));
  if ('error' in named) return named;
  const opened = await openTrace(named.path, dist);
  if ('error' in opened) return opened;
  const all = opened.session.info().processes;
  const processes = all.filter(({ pid }) => named.pid === null || pid === named.pid).map(({ index }) => index);
  return { ...named, ...opened, processes };
}
