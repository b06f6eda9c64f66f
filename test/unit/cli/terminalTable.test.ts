import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TerminalTable } from '../../../extension/cli/live/terminalTable';

const ESC = '\x1b';
const SEQUENCE = new RegExp(`${ESC}\\[([\\d;]*)([A-Za-z])|${ESC}([78D])|([^])`, 'g');

/** As much of a VT100 as a program that prints lines and the table need. */
class Terminal {
  readonly columns = 20;
  private lines: string[];
  private row = 0;
  private column = 0;
  private top = 0;
  private bottom: number;
  private saved: [number, number] = [0, 0];

  constructor(readonly rows: number) {
    this.lines = Array.from({ length: rows }, () => '');
    this.bottom = rows - 1;
  }

  get text(): string[] {
    return this.lines.map(line => line.trimEnd());
  }

  write(text: string): void {
    for (const [, parameters, final, plain, letter] of text.matchAll(SEQUENCE)) {
      if (letter !== undefined) this.put(letter);
      else if (plain === '7') this.saved = [this.row, this.column];
      else if (plain === '8') [this.row, this.column] = this.saved;
      else if (plain === 'D') this.lineFeed();
      else this.control(final ?? '', (parameters ?? '').split(';').map(Number));
    }
  }

  private put(letter: string): void {
    if (letter === '\r') this.column = 0;
    else if (letter === '\n') {
      this.column = 0; // the terminal's driver makes it the begin of the next line
      this.lineFeed();
    } else {
      const line = (this.lines[this.row] ?? '').padEnd(this.column);
      this.lines[this.row] = line.slice(0, this.column) + letter + line.slice(this.column + 1);
      this.column++;
    }
  }

  private lineFeed(): void {
    if (this.row !== this.bottom) this.row = Math.min(this.row + 1, this.rows - 1);
    else {
      this.lines.splice(this.top, 1);
      this.lines.splice(this.bottom, 0, '');
    }
  }

  private control(final: string, [first = 0, second = 0]: number[]): void {
    if (final === 'A') this.row = Math.max(0, this.row - first);
    else if (final === 'H') [this.row, this.column] = [first - 1, second - 1];
    else if (final === 'K') this.lines[this.row] = '';
    else if (final === 'J') this.lines.fill('', this.row);
    else if (final === 'r') {
      [this.top, this.bottom] = second > 0 ? [first - 1, second - 1] : [0, this.rows - 1];
      [this.row, this.column] = [0, 0];
    } else assert.fail(`unknown sequence ${final}`);
  }
}

const program = (terminal: Terminal, from: number, to: number): void => {
  for (let line = from; line < to; line++) terminal.write(`line ${line}\r\n`);
};

test('a line that the program has begun goes on where it was', () => {
  for (const lines of [0, 9]) {
    const terminal = new Terminal(10);
    const table = new TerminalTable(terminal);
    program(terminal, 0, lines);
    terminal.write('half of ');
    table.draw(['A', 'B']);
    terminal.write('a line\r\n');
    assert.ok(terminal.text.includes('half of a line'), terminal.text.join('\n'));
  }
});

test('the program’s lines scroll above the table, which stays in place', () => {
  const terminal = new Terminal(10);
  const table = new TerminalTable(terminal);
  program(terminal, 0, 9);
  table.draw(['A', 'B', 'a line that is wider than the screen']);
  assert.deepEqual(terminal.text.slice(7), ['A', 'B', 'a line that is wide…']);
  program(terminal, 9, 12);
  table.draw(['A2', 'B2']);
  assert.deepEqual(terminal.text, ['line 6', 'line 7', 'line 8', 'line 9', 'line 10', 'line 11', '', '', 'A2', 'B2']);
});

test('a table that grows takes rows from the program without losing its lines', () => {
  const terminal = new Terminal(10);
  const table = new TerminalTable(terminal);
  program(terminal, 0, 20);
  table.draw(['A']);
  table.draw(['A', 'B', 'C']);
  program(terminal, 20, 21);
  assert.deepEqual(terminal.text, [
    'line 15',
    'line 16',
    'line 17',
    'line 18',
    'line 19',
    'line 20',
    '',
    'A',
    'B',
    'C',
  ]);
});

test('afterwards the terminal is as if there had been no table, whatever was drawn', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 8 }), fc.array(fc.constantFrom('x', 'yy', ''), { maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(step), steps => {
      const terminal = new Terminal(12);
      const table = new TerminalTable(terminal);
      let printed = 0;
      for (const now of steps) {
        if (typeof now !== 'number') table.draw(now);
        else program(terminal, printed, (printed += now));
      }
      table.release();
      program(terminal, printed, printed + 1);
      const shown = terminal.text.filter(line => line !== '');
      const expected = Array.from({ length: printed + 1 }, (_, line) => `line ${line}`);
      assert.deepEqual(shown, expected.slice(-shown.length));
      assert.ok(shown.length >= Math.min(expected.length, 5));
      assert.equal(terminal.text[shown.length - 1], `line ${printed}`);
    }),
  );
});
