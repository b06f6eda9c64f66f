import { addMark } from '../capture/traces/sessionFile';
import { reasonOf } from '../capture/traces/traceDirectory';
import { formatDuration } from '../protocol/format';
import type { MarkArguments } from './arguments/markArguments';
import { openNamed } from './namedTrace';
import { print, say } from './report/output';

const NOT_MARKED = 1;

/** Gives this moment of a running trace a name. Returns the exit status. */
export async function mark({ target, name }: MarkArguments, dist: string): Promise<number> {
  const result = await place(target, name, Date.now(), dist);
  if (typeof result === 'number') {
    print([`Marked "${name}" at ${formatDuration(result)}.`]);
    return 0;
  }
  say(result.error);
  return NOT_MARKED;
}

/** Time of the mark, ns of the session, or one sentence. */
async function place(target: string, name: string, nowMs: number, dist: string): Promise<number | { error: string }> {
  const opened = await openNamed(target, dist);
  if ('error' in opened) return opened;
  const { directory, session } = opened;
  try {
    const { live, startRealtimeMs } = session.info();
    if (directory === null || !live) return { error: 'The program has ended: a mark is taken while it runs.' };
    const timeNs = Math.max(0, Math.round((nowMs - startRealtimeMs) * 1e6));
    return addMark(directory, { name, timeNs }) ? timeNs : { error: `${directory} is gone.` };
  } catch (error) {
    return { error: `The mark could not be written: ${reasonOf(error)}.` };
  } finally {
    session.close();
  }
}
