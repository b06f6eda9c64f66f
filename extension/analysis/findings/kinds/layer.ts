// Findings on a whole layer of a device: which of their kinds there are.
import type { Finding } from '../../../protocol/verdicts';
import type { JudgedLedger } from '../../ledger/ledger';
import type { LayerContext } from './ofDevice';
import { graphsOf, graphsFinding } from './graphPools';
import { pendingFinding } from './pendingMemory';
import { cacheFinding } from './cache';
import { libraryFindings } from './library';
import { untracedFinding } from './untraced';

/** A library that takes ever more; memory that waits for a stream; a cache that grows beyond its tensors; a process beyond what was traced. */
export function layerFindings(ledgers: readonly JudgedLedger[], context: LayerContext): Finding[] {
  const { source, leaks, setUps } = context;
  return ledgers.flatMap(judged => {
    const { reserved, process, pending } = judged;
    const graphs = reserved === null ? null : graphsOf(judged, source);
    // In a set-up everything rises; what its graphs leave unused stays.
    if (setUps.includes(judged.ledger.process)) return graphs === null ? [] : [graphsFinding(judged, graphs)];
    const findings: Finding[] = libraryFindings(judged, leaks);
    if (pending !== null) findings.push(pendingFinding(judged, pending));
    else if (reserved !== null) findings.push(cacheFinding(judged, reserved, { ...context, graphs }));
    if (process !== null) findings.push(untracedFinding(judged, process));
    return findings;
  });
}
