import { verdictsOf } from '../../analysis/findings/verdictCache';
import { headLine, takenBackLine } from '../../analysis/report/tableFindings';
import type { NativeSession } from '../../engine/addon';
import type { LineText } from '../../analysis/findings/findingContext';
import { isGrowth, type Finding } from '../../protocol/verdicts';
import { say } from '../report/output';

/** Says on stderr what has been found since it was last asked: a line a finding, again only where its verdict is another, or gone. */
export function createNews(session: NativeSession, lineText: LineText): () => void {
  const said = new Map<string, Finding>();
  return () => {
    const { findings, sites } = verdictsOf(session, lineText);
    for (const finding of findings) {
      if (said.get(finding.id)?.verdict !== finding.verdict) say(headLine(finding));
      said.set(finding.id, finding);
    }
    const current = new Set(findings.map(({ id }) => id));
    for (const [id, finding] of said) {
      if (current.has(id)) continue;
      said.delete(id);
      // A leak that memory ran out of is told with the failure.
      const told = findings.some(
        ({ failure, sites: own }) => failure && own.some(site => finding.sites.includes(site)),
      );
      if (told || !isGrowth(finding)) continue;
      const now = finding.sites.map(site => sites.get(site)?.because).find(because => because !== undefined);
      say(takenBackLine(finding, now ?? ''));
    }
  };
}
