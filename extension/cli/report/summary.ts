import { renderTable } from '../../analysis/report/table';
import type { Verdicts } from '../../protocol/verdicts';
import { withFinal, type EndedTrace } from './finalMoment';

/** The verdict stays on the screen that the run ends on; the trace's file comes behind these lines. */
const MOST_LINES = 39;
const BLOCKS = 50;
/** From roomy to tight. */
const SIZES = [
  { findings: 8, groups: 16, processes: 8 },
  { findings: 5, groups: 12, processes: 4 },
  { findings: 3, groups: 8, processes: 3 },
  { findings: 2, groups: 6, processes: 2 },
  { findings: 1, groups: 4, processes: 1 },
] as const;
const WITH_BLOCKS = [{ findings: 10, groups: BLOCKS, processes: Infinity }] as const;

/** What is told when a run has ended: the roomiest table that is not too long. With `blocks` it is all of it. `nothing`: why it may be empty. */
export function summaryLines(
  trace: EndedTrace,
  verdicts: Verdicts,
  { blocks, width, nothing }: { blocks: boolean; width: number | null; nothing: string },
): Promise<string[]> {
  const now = new Date();
  return withFinal(trace, verdicts, read => {
    let lines: string[] = [];
    for (const { groups, ...most } of blocks ? WITH_BLOCKS : SIZES) {
      const snapshot = read({ top: blocks ? BLOCKS : null, groupBy: 'line', groups });
      lines = renderTable(snapshot, { now, width, nothing, ...most });
      if (lines.length <= MOST_LINES) break;
    }
    return lines;
  });
}
