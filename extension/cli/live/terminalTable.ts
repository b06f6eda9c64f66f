import { fitEnd } from '../../report/tables/fit';
import { escapeForTerminal } from '../../text/escapeForTerminal';

const ESC = '\x1b';

/** The terminal that is drawn on. */
export interface Screen {
  rows: number;
  columns: number;
  write(text: string): void;
}

/**
 * Keeps the lower rows of a terminal for a table and leaves the rows above to the program, by a scroll region
 * (DECSTBM): the program's own output scrolls undisturbed.
 */
export class TerminalTable {
  private height = 0;
  private rows: number;

  constructor(private readonly screen: Screen) {
    this.rows = screen.rows;
  }

  /** Most lines that fit: half of the screen stays the program's. */
  get limit(): number {
    return Math.floor(this.rows / 2);
  }

  /** Draws up to `limit` lines in place of those before, down to the last row. */
  draw(lines: readonly string[]): void {
    const height = Math.min(lines.length, this.limit);
    if (height > this.height) this.reserve(height);
    let text = `${ESC}7`;
    const first = this.rows - this.height + 1;
    const empty = this.height - height;
    for (let row = 0; row < this.height; row++) {
      text += `${ESC}[${first + row};1H${ESC}[2K${fitEnd(escapeForTerminal(lines[row - empty] ?? ''), this.screen.columns)}`;
    }
    this.screen.write(`${text}${ESC}8`);
  }

  /** Wipes the table and gives all rows back. */
  release(): void {
    if (this.height > 0) {
      const first = this.rows - this.height + 1;
      this.screen.write(`${ESC}7${ESC}[r${ESC}[${first};1H${ESC}[J${ESC}8`);
    }
    this.height = 0;
    this.rows = this.screen.rows;
  }

  private reserve(height: number): void {
    const more = height - this.height;
    // Scrolling pushes what stands in the way up, and the column stays: a line that the program began continues there.
    const makeRoom = `${`${ESC}D`.repeat(more)}${ESC}[${more}A`;
    this.screen.write(`${makeRoom}${ESC}7${ESC}[1;${this.rows - height}r${ESC}8`);
    this.height = height;
  }
}
