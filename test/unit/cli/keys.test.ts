import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Keys } from '../../../extension/cli/live/liveKeys';

const list = { rows: 30, page: 10 };

function pressed(...names: string[]): Keys {
  const keys = new Keys();
  for (const name of names) keys.press({ name, sequence: name }, list);
  return keys;
}

test('the list scrolls no further than its last page', () => {
  const from = (...names: string[]): number => pressed(...names).choice.from;
  assert.deepEqual([from('down', 'down'), from('down', 'up', 'up')], [2, 0]);
  assert.deepEqual([from('pagedown'), from('end'), from('end', 'pageup'), from('end', 'home')], [10, 20, 10, 0]);
  const short = new Keys();
  short.press({ name: 'end' }, { rows: 3, page: 10 });
  assert.equal(short.choice.from, 0);
  const scrolled = pressed('end');
  assert.deepEqual([scrolled.fit({ rows: 25, page: 10 }), scrolled.choice.from], [true, 15]);
  assert.equal(scrolled.fit({ rows: 25, page: 10 }), false);
});

test('a letter sorts, from the first row on; q leaves', () => {
  assert.deepEqual(pressed('down', 'g').choice, { sort: 'growth', filter: '', from: 0 });
  assert.equal(new Keys().press({ name: 'q' }, list), false);
});

test('while a filter is typed letters are letters', () => {
  const keys = pressed('down', '/', 'q', 'b');
  assert.deepEqual(keys.choice, { sort: 'bytes', filter: 'qb', from: 0 });
  assert.match(keys.line, /qb_$/);
  keys.press({ name: 'up', sequence: '\x1b[A' }, list);
  keys.press({ name: 'c', sequence: 'c', ctrl: true }, list);
  keys.press({ name: 'backspace' }, list);
  assert.equal(keys.choice.filter, 'q');
  keys.press({ name: 'return' }, list);
  assert.match(keys.line, /q quit$/);
  assert.match(keys.line, /Esc clear/);
  keys.press({ name: 'escape' }, list);
  assert.equal(keys.choice.filter, '');
  assert.doesNotMatch(keys.line, /Esc/);
  keys.press({ sequence: '/' }, list);
  keys.press({ name: 'x', sequence: 'x' }, list);
  keys.press({ name: 'escape' }, list);
  assert.equal(keys.choice.filter, '');
});
