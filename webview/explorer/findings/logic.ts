// Which findings are shown, and when they are asked for again.
import type { FindingsView, FindingView } from '../../../extension/protocol/requests/verdictRequests';

/** Cards before the others are asked for. */
const FEW = 3;
const WHILE_STALE_MS = 1_000;
const RANK: Record<FindingView['verdict'], number> = {
  leak: 0,
  oom: 1,
  fragmentation: 2,
  pending: 2,
  cycle: 2,
  untraced: 2,
  anomaly: 3,
};

/** Leaks first; else in the order of the host. At most a few unless `all`. */
export function shownFindings(findings: readonly FindingView[], all: boolean): FindingView[] {
  const sorted = findings.toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict]);
  return all ? sorted : sorted.slice(0, FEW);
}

/** Milliseconds after which to ask again though nothing more happens; null: not. */
export function nextQuestion({ stale }: FindingsView): number | null {
  return stale ? WHILE_STALE_MS : null;
}
