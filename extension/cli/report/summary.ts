import { constants } from 'node:os';
import { renderTable, type TableOptions } from '../../report/tables/table';
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

/**
 * The summary when a run has ended: the roomiest table that is not too long. With `blocks` it is all of it. `nothing`: why it may be empty.
 * `status`: what the program ended with, null where that is unknown.
 */
export function summaryLines(
  trace: EndedTrace,
  verdicts: Verdicts,
  { blocks, status, ...how }: Omit<TableOptions, 'now'> & { blocks: boolean; status: number | null },
): Promise<string[]> {
  const now = new Date();
  return withFinal(trace, verdicts, read => {
    let lines: string[] = [];
    for (const { groups, ...most } of blocks ? WITH_BLOCKS : SIZES) {
      const snapshot = read({ top: blocks ? BLOCKS : null, groupBy: 'line', groups });
      lines = renderTable(snapshot, { now, ...how, ended: endText(status), ...most });
      if (lines.length <= MOST_LINES) break;
    }
    return lines;
  });
}

/** How a program failed, in a sentence; null: it did not, or that is unknown. A shell gives 128 and the number of the signal that ended it. */
export function endText(status: number | null): string | null {
  if (!status) return null;
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === status - 128) ?? [];
  const words: Partial<Record<string, string>> = {
    SIGINT: 'The program was interrupted (Ctrl+C).',
    SIGKILL: 'The program was killed (SIGKILL). Linux does this, for example, when main memory runs out.',
  };
  if (signal === undefined) return `The program failed with exit status ${status}.`;
  const crashed = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE'].includes(signal);
  return (
    words[signal] ?? (crashed ? `The program crashed (${signal}).` : `The program was ended by a signal (${signal}).`)
  );
}
