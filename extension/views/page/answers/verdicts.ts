import type { ExperimentEffect, Inquiry, VerdictRequests } from '../../../protocol/requests/verdictRequests';
import { chooseExperiments } from '../../commands/chooseExperiments';
import type { PageModel } from '../page';
import type { TraceVerdicts } from '../../session/traceVerdicts';
import type { Answers } from './answers';
import { openVerdicts } from './source';

export function verdictAnswers(model: PageModel): Answers<VerdictRequests> {
  const verdicts = (): TraceVerdicts => openVerdicts(model);
  return {
    findings: () => verdicts().findings(),
    verdicts: ({ sites, groupBy }) => verdicts().rows(sites, groupBy),
    otherLines: ({ finding }) => verdicts().otherLines(finding),
    // What the process says comes with the findings: it may take long, and it outlives the page.
    whoHolds: ({ finding }) => void verdicts().whoHolds(finding),
    confirm: ({ finding }) => void confirmByExperiment(verdicts(), finding),
    stopAsking: ({ finding }) => verdicts().stopAsking(finding),
  };
}

/** Asks the user what to try, and tries it. Throws a sentence where the program cannot be asked. */
export function confirmByExperiment(
  verdicts: TraceVerdicts,
  id: string,
): Promise<Inquiry<ExperimentEffect> | undefined> {
  const finding = verdicts.find(id);
  const refusal = verdicts.cannotAsk(finding);
  if (refusal !== null) throw new Error(refusal);
  return chooseExperiments(verdicts.pidOf(finding)).then(chosen => {
    return chosen === undefined ? undefined : verdicts.experiment(id, chosen);
  });
}
