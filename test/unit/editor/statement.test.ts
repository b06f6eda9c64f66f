import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readsFixed, statementRange } from '../../../extension/editor/statement';

/** The text in the range. */
function statement(text: string): string {
  const lines = text.split('\n');
  const { column, lines: more, endColumn } = statementRange(lines);
  const own = lines.slice(0, more + 1);
  own[more] = (own[more] ?? '').slice(0, endColumn);
  return own.join('\n').slice(column);
}

test('a statement begins behind its indentation, and ends before a comment', () => {
  for (const [text, expected] of [
    ['    total += loss\n    print(total)', 'total += loss'],
    ['\tkept.append(out)  # (held', 'kept.append(out)'],
    ["  log(\"# no comment\", 'it\\'s (')  ", "log(\"# no comment\", 'it\\'s (')"],
    ['kept.append(\n    model(x),  # one\n)\nnext()', 'kept.append(\n    model(x),  # one\n)'],
    ['text = """a (\nb # c\n""" + x\nnext()', 'text = """a (\nb # c\n""" + x'],
    ['total = a + \\\n  b\nnext()', 'total = a + \\\n  b'],
    ['    out.detach(),\n)', 'out.detach(),'],
    ['for x in data:\n    pass', 'for x in data:'],
    ['', ''],
    ['broken(', 'broken('],
  ] as const)
    assert.equal(statement(text), expected);
});

const FIX = { line: 4, column: 14, endLine: 4, endColumn: 22, before: 'val_loss', after: 'val_loss.detach()' };
const fix = { ...FIX, adds: '.detach()', statement: 'val_total += val_loss.detach()' };

test('a line is fixed where it reads as the fix says, by whatever spaces', () => {
  assert.equal(readsFixed(['val_total += val_loss.detach()  # kept'], fix), true);
  assert.equal(readsFixed(['    val_total+=val_loss.detach()', ''], fix), true);
  assert.equal(readsFixed(['val_total += val_loss', 'val_loss.detach()'], fix), false);
  assert.equal(readsFixed([], fix), false);
  const long = { ...fix, endLine: 5, after: 'stack(\n  a,\n).detach()', statement: '…' };
  assert.equal(readsFixed(['val_total += stack(', '  a,', ').detach()'], long), true);
});
