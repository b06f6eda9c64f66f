import { verdictsOf } from '../../analysis/findings/verdictCache';
import { headLine } from '../../analysis/report/tableFindings';
import type { NativeSession } from '../../engine/addon';
import type { LineText } from '../../analysis/findings/findingContext';
import type { FindingVerdict } from '../../protocol/verdicts';
import { say } from '../report/output';

/** Says on stderr what has been found since it was last asked: a line a finding, again only where its verdict is another. */
export function createNews(session: NativeSession, lineText: LineText): () => void {
  const said = new Map<string, FindingVerdict>();
  return () => {
    for (const finding of verdictsOf(session, lineText).findings) {
      if (said.get(finding.id) === finding.verdict) continue;
      said.set(finding.id, finding.verdict);
      say(headLine(finding));
    }
  };
}
