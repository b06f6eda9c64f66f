import { readBytes } from '../../files/files';

/** Linux reports times of processes in hundredths of a second on all its platforms (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;
/** The clock may have been set since the system started. */
const SLACK_MS = 5_000;

/**
 * Whether the process runs that had this number at `sinceMs` (time of the clock): one that began later has only got its
 * number.
 */
export function processAlive(pid: number, sinceMs: number, proc = '/proc'): boolean {
  try {
    const stat = readBytes(`${proc}/${pid}/stat`).toString('utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (/^[ZXx]/.test(fields[0] ?? 'X')) return false;
    // Field 22 of proc(5); the first one here is field 3.
    const bootSeconds = Number(/^btime (\d+)$/m.exec(readBytes(`${proc}/stat`).toString('utf8'))?.[1]);
    const startedMs = (bootSeconds + Number(fields[19]) / TICKS_PER_SECOND) * 1000;
    return startedMs <= sinceMs + SLACK_MS;
  } catch {
    return false;
  }
}
