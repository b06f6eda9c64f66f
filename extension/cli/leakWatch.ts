import { FirstLeaks, servesMs, type OwnAnswer, type OwnQuestion } from '../analysis/findings/firstLeaks';
import { timeOf } from '../analysis/findings/holderAnswers';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { ask, cannotAsk } from '../capture/traces/requests';
import { createLineReader } from '../native/lineReader';
import type { Recording } from './commandRecording';

const LOOK_MS = 50;
const PATIENCE_MS = 60_000;

/** Follows a program that runs, and asks it who holds what leaks, the first time that this is certain. */
export function watchForLeaks({ session, directory }: Recording): { stop(): void } {
  const stop = new AbortController();
  const begun = performance.now();
  const canAsk = (process: number): boolean => {
    const info = session.info();
    return cannotAsk(info, info.processes[process], directory) === null;
  };
  const question = async ({ process, ...words }: OwnQuestion): Promise<OwnAnswer> => {
    const patience = { limitMs: PATIENCE_MS, signal: stop.signal };
    const result = await ask(session, directory, process, words, patience);
    return timeOf(result);
  };
  const leaks = new FirstLeaks(session, canAsk, question, () => performance.now() - begun);
  const lineText = createLineReader();
  let [seen, dueMs] = [-1, 0];
  const look = (): void => {
    const [fromMs, revision] = [performance.now(), session.revision()];
    if (revision === seen || fromMs < dueMs) return;
    leaks.check(verdictsOf(session, lineText));
    seen = revision;
    dueMs = fromMs + servesMs(performance.now() - fromMs, fromMs - begun);
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    stop: () => {
      clearInterval(timer);
      stop.abort();
    },
  };
}
