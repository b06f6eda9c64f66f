import { traceRoots } from '../capture/traces/folders';
import { findTrace, type NamedTrace } from '../capture/traces/runningTraces';
import { loadNative, type NativeSession } from '../engine/addon';

/** A trace with all that was recorded until now, and the processes in it that are meant (their indices). */
export interface OpenTrace extends NamedTrace {
  session: NativeSession;
  processes: number[];
}

/** Opens the trace that a PID or a path names. The error is one sentence. */
export async function openNamed(where: string, dist: string): Promise<OpenTrace | { error: string }> {
  const named = findTrace(where, traceRoots(process.env, process.getuid?.() ?? 0));
  if ('error' in named) return named;
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
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
