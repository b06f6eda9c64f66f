import { addMark } from '../capture/traces/sessionFile';
import { reasonOf } from '../capture/traces/traceDirectory';
import { formatDuration } from '../protocol/format';
import type { MarkArguments } from './arguments/markArguments';
import { withNamed } from './namedTrace';
import { print } from './report/output';

/** Gives this moment of a running trace a name. Returns the exit status. */
export async function mark({ target, name }: MarkArguments, dist: string): Promise<number> {
  const nowMs = Date.now();
  return withNamed(target, dist, async ({ directory, session }) => {
    const { live, startRealtimeMs } = session.info();
    if (directory === null || !live) return { error: 'The program has ended: only a running program can be marked.' };
    const timeNs = Math.max(0, Math.round((nowMs - startRealtimeMs) * 1e6));
    try {
      if (!addMark(directory, { name, timeNs })) return { error: `${directory} is gone.` };
    } catch (error) {
      return { error: `The mark could not be written: ${reasonOf(error)}.` };
    }
    print([`Marked "${name}" at ${formatDuration(timeNs)}.`]);
    return 0;
  });
}
