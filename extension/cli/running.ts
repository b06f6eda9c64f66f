// What changes a trace that is being written: a mark, the switch for recording. Both return the exit status.
import { addMark } from '../capture/traces/sessionFile';
import { reasonOf } from '../capture/traces/traceDirectory';
import { loadNative } from '../native/addon';
import { formatDuration } from '../text/format';
import type { MarkArguments } from './arguments/markArguments';
import type { RecordArguments } from './arguments/startArguments';
import { withNamed } from './namedTrace';
import { print } from './output/output';

/** Gives this moment of a running trace a name. */
export async function mark({ target, name }: MarkArguments, dist: string): Promise<number> {
  const nowMs = Date.now();
  return withNamed(target, dist, async ({ directory, session }) => {
    const { live, startRealtimeMs } = session.info();
    if (directory === null || !live)
      return { error: 'The program has ended. Markers can only be added to a running program.' };
    const timeNs = Math.max(0, Math.round((nowMs - startRealtimeMs) * 1e6));
    try {
      if (!addMark(directory, { name, timeNs })) return { error: `${directory} no longer exists.` };
    } catch (error) {
      return { error: `The marker could not be written: ${reasonOf(error)}.` };
    }
    print([`Added marker "${name}" at ${formatDuration(timeNs)}.`]);
    return 0;
  });
}

/** Switches the recording of a running program on or off. */
export async function record({ target, on }: RecordArguments, dist: string): Promise<number> {
  return withNamed(target, dist, async ({ directory, session }) => {
    const loaded = loadNative(dist);
    if ('error' in loaded) return loaded;
    if (directory === null || !session.info().live)
      return { error: 'The program has ended, so there is nothing to record.' };
    try {
      loaded.addon.setRecording(directory, on);
    } catch (error) {
      return { error: reasonOf(error) };
    }
    print([`Recording is ${on ? 'on' : 'off'}.`]);
    return 0;
  });
}
