import { readdirSync, statSync } from 'node:fs';
import { wakeRecorder } from '../capture/launch/recorder';
import { traceRoots } from '../capture/traces/folders';
import { reasonOf } from '../capture/traces/traceDirectory';
import { loadNative, type NativeAddon, type NativeTrace } from '../native/addon';
import { nameCells } from '../protocol/notebookCells';
import { traceFile, type TraceFile } from '../native/traceFile';

/** A trace that was read to its end; its opener closes it (`closeTrace`). */
export interface Opened {
  addon: NativeAddon;
  session: NativeTrace;
  trace: TraceFile;
}

/** Opens a saved trace, a directory that is recorded into, or a memory snapshot. The error is one sentence. */
export async function openTrace(file: string, dist: string): Promise<Opened | { error: string }> {
  try {
    if (statSync(file).isDirectory() && readdirSync(file).length === 0) return { error: `${file} is an empty folder.` };
  } catch (error) {
    return { error: `${file} cannot be read: ${reasonOf(error)}.` };
  }
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    const trace = await traceFile(loaded.addon, file);
    wakeRecorder(dist, trace.path, traceRoots(process.env, process.getuid?.() ?? 0));
    const session = loaded.addon.open(trace.path);
    await session.settle();
    nameCells(session.info());
    return { addon: loaded.addon, session, trace };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

export function closeTrace({ session, trace }: Opened): void {
  session.close();
  trace.release();
}
