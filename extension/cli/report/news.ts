import { verdictsOf } from '../../analysis/findings/verdictCache';
import { headLine } from '../../analysis/report/tableFindings';
import type { NativeSession } from '../../engine/addon';
import { createLineReader } from '../../engine/sourceLines';
import type { FindingVerdict } from '../../protocol/verdicts';
import { say } from './output';

/** Says on stderr what has been found since it was last asked: a line a finding, again only where its verdict is another. */
export function createNews(session: NativeSession): () => void {
  const lineText = createLineReader();
  const said = new Map<string, FindingVerdict>();
  return () => {
    for (const finding of verdictsOf(session, lineText).findings) {
      if (said.get(finding.id) === finding.verdict) continue;
      said.set(finding.id, finding.verdict);
      say(headLine(finding));
    }
  };
}
