import { readdirSync } from 'node:fs';
import type { TraceInfo } from '../protocol/trace';

const PAUSE_MS = 50;

/**
 * Waits until all that the processes of a trace directory wrote has been read and they are known to have ended, at most
 * `limitMs`. A log that began a moment ago may not have been found yet, so the directory itself is counted. Returns how
 * many processes still run.
 */
export async function settleDirectory(
  session: { settle(): Promise<void>; info(): TraceInfo },
  directory: string,
  limitMs: number,
): Promise<number> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    await session.settle();
    const { processes } = session.info();
    const running = processes.filter(process => !process.ended).length;
    const found = processes.length >= logsIn(directory);
    if ((running === 0 && found) || Date.now() >= deadline) return running;
    await new Promise(done => setTimeout(done, PAUSE_MS));
  }
}

function logsIn(directory: string): number {
  return readdirSync(directory).filter(name => name.endsWith('.gmtlog')).length;
}
