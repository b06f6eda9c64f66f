import type { PageRequests } from '../../protocol/requests/engineRequests';
import type { VerdictRequests } from '../../protocol/requests/verdictRequests';
import type { Answers, PageModel } from './answers';

export function verdictAnswers({
  shown,
}: PageModel): Answers<Pick<VerdictRequests, keyof VerdictRequests & keyof PageRequests>> {
  const { verdicts } = shown;
  return {
    findings: () => verdicts.findings(),
    verdicts: ({ sites, groupBy }) => verdicts.rows(sites, groupBy),
    otherLines: ({ finding }) => verdicts.otherLines(finding),
    // What the process answers comes with the findings: it may take long, and it outlives the page.
    findHolders: ({ finding }) => void verdicts.findHolders(finding),
    stopHolderSearch: ({ finding }) => verdicts.stopHolderSearch(finding),
  };
}
