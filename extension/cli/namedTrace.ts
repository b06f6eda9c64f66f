import { wakeRecorder } from '../capture/launch/recorder';
import { traceRoots } from '../capture/traces/folders';
import { findTrace, type NamedTrace } from '../capture/traces/runningTraces';
import { loadNative, type NativeSession } from '../engine/addon';
import { refuse } from './report/output';

/** A trace with all that was recorded until now, and the processes in it that are meant (their indices). */
export interface OpenTrace extends NamedTrace {
  session: NativeSession;
  processes: number[];
}

/** Works with the trace that a PID or a path names. An error, one sentence, is said; the exit status is then 1. */
export async function withNamed(
  where: string,
  dist: string,
  use: (opened: OpenTrace) => Promise<number | { error: string }>,
): Promise<number> {
  const opened = await openNamed(where, dist);
  if ('error' in opened) return refuse(opened.error, 1);
  try {
    const result = await use(opened);
    return typeof result === 'number' ? result : refuse(result.error, 1);
  } finally {
    opened.session.close();
  }
}

async function openNamed(where: string, dist: string): Promise<OpenTrace | { error: string }> {
  const named = findTrace(where, traceRoots(process.env, process.getuid?.() ?? 0));
  if ('error' in named) return named;
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    if (named.directory !== null) wakeRecorder(dist, named.directory);
    const session = loaded.addon.open(named.path);
    await session.settle();
    const all = session.info().processes;
    const processes = all.filter(({ pid }) => named.pid === null || pid === named.pid).map(({ index }) => index);
    if (processes.length > 0) return { ...named, session, processes };
    session.close();
    return { error: `${where} has not used CUDA yet: there is nothing to ask about.` };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
