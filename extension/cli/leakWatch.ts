import { FirstLeaks, servesMs, type OwnAnswer, type OwnQuestion } from '../analysis/findings/firstLeaks';
import { timeOf } from '../analysis/findings/kinds/holderAnswers';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { queryProcess, refusalOf } from '../capture/traces/requests';
import { createLineReader } from '../native/lineReader';
import type { Recording } from './commandRecording';

const POLL_MS = 50;
const PATIENCE_MS = 60_000;

/** Follows a program that runs, and queries it for the holders of a leak, the first time that the leak is certain. */
export function watchForLeaks({ session, directory }: Recording): { stop(): void } {
  const stop = new AbortController();
  const begun = performance.now();
  const isReachable = (process: number): boolean => {
    const info = session.info();
    return refusalOf(info, info.processes[process], directory) === null;
  };
  const question = async ({ process, ...words }: OwnQuestion): Promise<OwnAnswer> => {
    const patience = { limitMs: PATIENCE_MS, signal: stop.signal };
    const result = await queryProcess(session, directory, process, words, patience);
    return timeOf(result);
  };
  const leaks = new FirstLeaks(session, isReachable, question, () => performance.now() - begun);
  const lineText = createLineReader();
  let [seen, dueMs] = [-1, 0];
  const poll = (): void => {
    const [fromMs, revision] = [performance.now(), session.revision()];
    if (revision === seen || fromMs < dueMs) return;
    leaks.check(verdictsOf(session, lineText));
    seen = revision;
    dueMs = fromMs + servesMs(performance.now() - fromMs, fromMs - begun);
  };
  const timer = setInterval(poll, POLL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      stop.abort();
    },
  };
}
