import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editOf, LineShifts, type Replacement } from '../../../extension/editor/lineShifts';

/** The text after an edit, and the edit as the editor tells it. */
function apply(lines: readonly string[], { start, end, text }: Replacement): string[] {
  const before = (lines[start.line] ?? '').slice(0, start.character);
  const after = (lines[end.line] ?? '').slice(end.character);
  return [...lines.slice(0, start.line), ...(before + text + after).split('\n'), ...lines.slice(end.line + 1)];
}

const at = (line: number, character: number): { line: number; character: number } => ({ line, character });

test('lines follow text that is put in, taken out and typed', () => {
  const cases: [Replacement, (number | null)[]][] = [
    [{ start: at(1, 0), end: at(1, 0), text: 'new\n' }, [1, 3, 4, 5]],
    [{ start: at(1, 0), end: at(2, 0), text: '' }, [1, null, 2, 3]],
    [{ start: at(1, 3), end: at(1, 3), text: 'typed' }, [1, 2, 3, 4]],
    [{ start: at(0, 4), end: at(0, 4), text: '\n    ' }, [1, 3, 4, 5]],
    [{ start: at(0, 4), end: at(2, 2), text: '' }, [1, null, null, 2]],
    [{ start: at(1, 0), end: at(3, 0), text: 'one\ntwo\nthree\n' }, [1, 2, 3, 5]],
  ];
  for (const [edit, expected] of cases) {
    const shifts = new LineShifts();
    shifts.add(editOf(edit), 10);
    assert.deepEqual(
      [1, 2, 3, 4].map(line => shifts.toNow(line, 5)),
      expected,
    );
  }
});

test('edits from before the program began move nothing', () => {
  const shifts = new LineShifts();
  shifts.add(editOf({ start: at(0, 0), end: at(0, 0), text: 'a\n' }), 10);
  assert.equal(shifts.toNow(3, 11), 3);
  assert.equal(shifts.toNow(3, 10), 4);
  assert.equal(shifts.changedSince(11), false);
});

test('whole lines put in and taken out: each line that is left is found', () => {
  const edit = fc.record({ line: fc.nat(30), removed: fc.nat(3), added: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), edits => {
      let lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
      const shifts = new LineShifts();
      for (const [i, { line, removed, added }] of edits.entries()) {
        const start = Math.min(line, lines.length - 1);
        const end = Math.min(start + removed, lines.length - 1);
        const text = Array.from({ length: added }, (_, n) => `new ${i}.${n}\n`).join('');
        const replacement = { start: at(start, 0), end: at(end, 0), text };
        lines = apply(lines, replacement);
        shifts.add(editOf(replacement), 1);
      }
      for (let line = 1; line <= 20; line++) {
        const now = lines.indexOf(`line ${line}`);
        if (now >= 0) assert.equal(shifts.toNow(line, 0), now + 1);
      }
    }),
  );
});
