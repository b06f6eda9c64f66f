import { statSync } from 'node:fs';
import { renderTable } from '../analysis/table';
import { readSnapshot } from '../analysis/snapshot';
import { buildReport } from '../analysis/report';
import { verdictsOf } from '../analysis/verdictCache';
import { reasonOf } from '../capture/traceDirectory';
import { loadNative, type NativeSession } from '../engine/addon';
import { createLineReader } from '../engine/sourceLines';
import type { ReportArguments } from './arguments';
import { print, say } from './output';

const TOP = 50;

/** Shows a saved trace or a trace directory. Returns the exit status. */
export async function report(options: ReportArguments, dist: string): Promise<number> {
  const opened = await openTrace(options.file, dist);
  if ('error' in opened) {
    say(opened.error);
    return 1;
  }
  const { session } = opened;
  try {
    const verdicts = verdictsOf(session, createLineReader());
    if (options.format === 'json') {
      print(JSON.stringify(buildReport(session, options.groupBy ?? undefined, verdicts), null, 2));
    } else {
      const wanted = { top: TOP, groupBy: options.groupBy ?? 'line', groups: TOP };
      const snapshot = readSnapshot(session, wanted, verdicts);
      const { startRealtimeMs, durationNs } = snapshot.info;
      print(renderTable(snapshot, { now: new Date(startRealtimeMs + durationNs / 1e6), final: true }));
    }
    return 0;
  } finally {
    session.close();
  }
}

async function openTrace(file: string, dist: string): Promise<{ session: NativeSession } | { error: string }> {
  try {
    statSync(file);
  } catch (error) {
    return { error: `${file} cannot be read: ${reasonOf(error)}.` };
  }
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  try {
    const session = loaded.addon.open(file);
    await session.settle();
    return { session };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
