import { applyFix } from '../../../editor/fixEdit';
import type { SourceLines } from '../../../editor/sourceLines';
import type { VerdictRequests } from '../../../protocol/requests/verdictRequests';
import type { PageModel } from '../model';
import type { TraceVerdicts } from '../../session/traceVerdicts';
import type { Answers } from './answers';
import { openVerdicts, shownOrigin } from './source';

export function verdictAnswers(model: PageModel, lines: SourceLines): Answers<VerdictRequests> {
  const verdicts = (): TraceVerdicts => openVerdicts(model);
  return {
    findings: () => verdicts().findings(),
    verdicts: ({ sites, groupBy }) => verdicts().rows(sites, groupBy),
    otherLines: ({ finding }) => verdicts().otherLines(finding),
    // What the process says comes with the findings: it may take long, and it outlives the page.
    whoHolds: ({ finding }) => void verdicts().whoHolds(finding),
    applyFix: ({ finding }) => applyFix(verdicts().find(finding), shownOrigin(model), lines),
    stopAsking: ({ finding }) => verdicts().stopAsking(finding),
  };
}
