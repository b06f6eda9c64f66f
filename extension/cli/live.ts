import { WriteStream, isatty } from 'node:tty';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { readSnapshot } from '../analysis/report/snapshot';
import { renderTable } from '../analysis/report/table';
import type { NativeSession } from '../engine/addon';
import { createLineReader } from '../engine/sourceLines';
import { createNews } from './report/news';
import { write } from './report/output';
import { TerminalTable } from './report/terminalTable';

/** What is told on stderr while the program runs: a table on a terminal, elsewhere a line for each new finding. */
export interface LiveTable {
  show(): void;
  /** Gives the terminal back as it was. */
  stop(): void;
}

/** Allocations of a thread and lines of the list below it, from roomy to tight. */
const SIZES = [
  [20, 5],
  [6, 3],
  [3, 3],
  [1, 1],
] as const;
const MIN_ROWS = 18;
const lineText = createLineReader();

export function createLiveTable(session: NativeSession): LiveTable {
  const terminal = isatty(2) ? new WriteStream(2) : null;
  if (terminal !== null && terminal.rows >= MIN_ROWS) return inPlace(session, terminal);
  terminal?.destroy();
  return { show: createNews(session), stop: () => undefined };
}

/** The table of this moment, while the program runs. */
function tableLines(session: NativeSession, { top, groups }: { top: number; groups: number }): string[] {
  const snapshot = readSnapshot(session, { top, groupBy: 'line', groups }, verdictsOf(session, lineText));
  return renderTable(snapshot, { now: new Date(), final: false });
}

function inPlace(session: NativeSession, terminal: WriteStream): LiveTable {
  const screen = {
    get rows() {
      return terminal.rows;
    },
    get columns() {
      return terminal.columns;
    },
    write: (text: string) => write(2, text),
  };
  const table = new TerminalTable(screen);
  const show = (): void => table.draw(fittingLines(session, table.limit));
  terminal.on('resize', () => {
    table.release();
    show();
  });
  return {
    show,
    stop: () => {
      table.release();
      terminal.destroy();
    },
  };
}

function fittingLines(session: NativeSession, limit: number): string[] {
  let lines: string[] = [];
  for (const [top, groups] of SIZES) {
    lines = tableLines(session, { top, groups });
    if (lines.length <= limit) return lines;
  }
  return [...lines.slice(0, limit - 1), `... ${lines.length - limit + 1} more lines in the last table`];
}
