import { withNamed } from './namedTrace';
import { loadNative } from '../engine/addon';
import { reasonOf } from '../capture/traces/traceDirectory';
import type { RecordArguments } from './arguments/startArguments';
import { print } from './report/output';

/** Switches the recording of a running program on or off. Returns the exit status. */
export async function record({ target, on }: RecordArguments, dist: string): Promise<number> {
  return withNamed(target, dist, async ({ directory, session }) => {
    const loaded = loadNative(dist);
    if ('error' in loaded) return loaded;
    if (directory === null || !session.info().live)
      return { error: 'The program has ended: there is nothing to record.' };
    try {
      loaded.addon.setRecording(directory, on);
    } catch (error) {
      return { error: reasonOf(error) };
    }
    print([`Recording is ${on ? 'on' : 'off'}.`]);
    return 0;
  });
}
