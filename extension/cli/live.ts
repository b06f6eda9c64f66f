import { WriteStream, isatty } from 'node:tty';
import { readSnapshot } from '../analysis/snapshot';
import { renderTable } from '../analysis/table';
import type { NativeSession } from '../engine/addon';
import { write } from './output';

/** Shows the table on stderr while the program runs. */
export interface LiveTable {
  show(): void;
  /** Gives the terminal back as it was. */
  stop(): void;
}

const TOP = 20;
const GROUPS = 5;
const MIN_ROWS = 18;
const ESC = '\x1b';

export function createLiveTable(session: NativeSession): LiveTable {
  const size = isatty(2) ? new WriteStream(2) : null;
  if (size !== null && (size.rows ?? 0) >= MIN_ROWS) return new TerminalTable(session, size);
  return {
    show: () => write(2, `${tableText(session, TOP, GROUPS, false)}\n`),
    stop: () => size?.destroy(),
  };
}

/** The table of this moment. */
export function tableText(session: NativeSession, top: number, groups: number, final: boolean): string {
  const snapshot = readSnapshot(session, { top, groupBy: 'line', groups });
  return renderTable(snapshot, { now: new Date(), final });
}

/**
 * Keeps the lower rows of the terminal for the table and leaves the rows above to the program, by a scroll region
 * (DECSTBM): the program's own output scrolls undisturbed.
 */
class TerminalTable implements LiveTable {
  private height = 0;
  private rows: number;

  constructor(
    private readonly session: NativeSession,
    private readonly size: WriteStream,
  ) {
    this.rows = size.rows;
    size.on('resize', () => {
      this.release();
      this.rows = size.rows;
      this.show();
    });
  }

  show(): void {
    if (this.rows < MIN_ROWS) return;
    const lines = this.fitting(Math.floor(this.rows / 2));
    if (lines.length > this.height) this.reserve(lines.length);
    const width = this.size.columns || 80;
    let text = `${ESC}7`;
    const first = this.rows - this.height + 1;
    for (let row = 0; row < this.height; row++) {
      text += `${ESC}[${first + row};1H${ESC}[2K${(lines[row] ?? '').slice(0, width)}`;
    }
    write(2, `${text}${ESC}8`);
  }

  stop(): void {
    this.release();
    this.size.destroy();
  }

  private fitting(limit: number): string[] {
    for (const [top, groups] of [
      [TOP, GROUPS],
      [6, 3],
      [3, 3],
      [1, 1],
    ] as const) {
      const lines = tableText(this.session, top, groups, false).trimEnd().split('\n');
      if (lines.length <= limit) return lines;
      if (top === 1)
        return [...lines.slice(0, limit - 1), `... ${lines.length - limit + 1} more lines in the last table`];
    }
    return [];
  }

  private reserve(height: number): void {
    const more = height - this.height;
    // New lines push what stands in the way up; then the region ends above the table.
    const makeRoom = `${'\n'.repeat(more)}${ESC}[${more}A`;
    write(2, `${makeRoom}${ESC}7${ESC}[1;${this.rows - height}r${ESC}8`);
    this.height = height;
  }

  private release(): void {
    if (this.height === 0) return;
    const first = this.rows - this.height + 1;
    write(2, `${ESC}7${ESC}[r${ESC}[${first};1H${ESC}[J${ESC}8`);
    this.height = 0;
  }
}
