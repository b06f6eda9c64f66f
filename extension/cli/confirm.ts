import { experimentText, readEffect } from '../analysis/findings/effects';
import { ask } from '../capture/traces/requests';
import type { Experiment, ExperimentEffect } from '../protocol/requests/verdictRequests';
import type { ConfirmArguments } from './arguments/askArguments';
import { jsonChunks } from './report/jsonDocument';
import { type OpenTrace, withNamed } from './namedTrace';
import { print } from './report/output';
import { writeResult } from './report/resultFile';

const PATIENCE_MS = 60_000;

/** Makes experiments in a traced program and tells what each freed. Returns the exit status: 0, or 1 where one failed. */
export async function confirm(options: ConfirmArguments, dist: string): Promise<number> {
  return withNamed(options.where, dist, opened => {
    const [process, ...others] = askable(opened);
    if (process === undefined) return Promise.resolve({ error: 'The program has ended.' });
    if (others.length > 0) return Promise.resolve({ error: severalText(opened) });
    return tryAll(options, opened, process);
  });
}

async function tryAll(
  options: ConfirmArguments,
  opened: OpenTrace,
  process: number,
): Promise<number | { error: string }> {
  const effects: ExperimentEffect[] = [];
  for (const experiment of options.experiments) {
    const effect = await tryOut(experiment, opened, process);
    if (typeof effect === 'string') return { error: effect };
    effects.push(effect);
    if (options.format === 'table') print([experimentText(effect)]);
  }
  if (options.format === 'json') writeResult(jsonChunks({ version: 1, experiments: effects }), null);
  return effects.some(effect => effect.error !== null) ? 1 : 0;
}

async function tryOut(
  experiment: Experiment,
  { session, directory }: OpenTrace,
  process: number,
): Promise<ExperimentEffect | string> {
  if (directory === null) return 'This is a saved trace: experiments need the running program.';
  const before = session.info();
  const result = await ask(session, directory, process, { do: experiment }, { limitMs: PATIENCE_MS });
  if ('sentence' in result) return result.sentence;
  return readEffect(experiment, result.answer.text, process, before, session.info());
}

function askable({ session, processes }: OpenTrace): number[] {
  const all = session.info().processes;
  return processes.length === 1 ? processes : processes.filter(index => all[index]?.ended === false);
}

function severalText(opened: OpenTrace): string {
  const all = opened.session.info().processes;
  const pids = askable(opened).map(index => all[index]?.pid ?? 0);
  return `Several processes are running there: name one of ${pids.join(', ')}.`;
}
