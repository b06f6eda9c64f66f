import { existsSync, readdirSync } from 'node:fs';
import type { TraceInfo } from '../../protocol/trace';

const PAUSE_MS = 50;

interface Reader {
  settle(): Promise<void>;
  info(): TraceInfo;
}

/**
 * Waits until all that the processes of a trace directory wrote has been read and they are known to have ended (`mayRun`: or may still run, and
 * nothing more is written about them), at most `limitMs`. A log that began a moment ago may not have been found yet, so the directory
 * itself is counted. Returns how many processes still run.
 */
export async function settle(session: Reader, directory: string, limitMs: number, mayRun = false): Promise<number> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    await session.settle();
    const { processes } = session.info();
    const running = processes.filter(process => !process.ended).length;
    const found = processes.length >= logsIn(directory);
    if (((running === 0 || mayRun) && found) || Date.now() >= deadline) return running;
    await new Promise(done => setTimeout(done, PAUSE_MS));
  }
}

/** None where the directory was deleted: then the session has all that there will be. */
function logsIn(directory: string): number {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory).filter(name => name.endsWith('.gmtlog')).length;
}
