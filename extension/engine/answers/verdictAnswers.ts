import type { PageRequests } from '../../protocol/requests/engineRequests';
import type { VerdictRequests } from '../../protocol/requests/verdictRequests';
import { builtUpTitle } from './timelineAnswers';
import type { Answers, PageModel } from './answers';

export function verdictAnswers(
  model: PageModel,
): Answers<Pick<VerdictRequests, keyof VerdictRequests & keyof PageRequests>> {
  const { shown } = model;
  const { verdicts, session } = shown;
  return {
    findings: () => verdicts.findings(),
    builtUp: () => builtUpTitle(model),
    verdicts: ({ sites, groupBy }) => verdicts.rows(sites, groupBy),
    otherLines: async ({ finding }) => {
      const { ending } = shown;
      return verdicts.otherLines(finding, ending === null ? session.native : await session.moments.at(ending.timeNs));
    },
    // What the process answers comes with the findings: it may take long, and it outlives the page.
    findHolders: ({ finding }) => void verdicts.findHolders(finding),
    stopHolderSearch: ({ finding }) => verdicts.stopHolderSearch(finding),
  };
}
