// Which findings are shown, and when they are requested again.
import type { FindingView } from '../../../extension/protocol/requests/verdictRequests';
import { isLeak, isMinor } from '../../../extension/protocol/verdicts';

/** Cards before "more" is pressed. */
const FEW = 3;
const RANK: Record<FindingView['verdict'], number> = {
  leak: 0,
  rising: 1,
  rose: 1,
  oom: 1,
  fragmentation: 2,
  pending: 2,
  cycle: 2,
  untraced: 2,
  anomaly: 3,
  rounded: 3,
  slow: 4,
};

/** Leaks first, and failures that came of them; else in the order of the host. A few that matter and all failures, unless `all`. */
export function shownFindings(findings: readonly FindingView[], all: boolean): FindingView[] {
  const sorted = findings.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (all) return sorted;
  const few = sorted.filter(one => one.verdict !== 'slow' && !isMinor(one, findings)).slice(0, FEW);
  return sorted.filter(one => few.includes(one) || one.verdict === 'oom');
}

function rankOf(finding: FindingView): number {
  return isLeak(finding) ? RANK.leak : RANK[finding.verdict];
}
