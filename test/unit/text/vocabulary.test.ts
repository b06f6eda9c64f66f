// What states and findings are called: one table for all faces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vocabulary } from '../../../extension/text/vocabulary';

const { states, findings } = vocabulary(text => `«${text}»`);

test('no two states have one name, and each is translated', () => {
  const names = Object.values(states).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, sentence } of [...Object.values(states), ...Object.values(findings)])
    assert.match(`${name} ${sentence}`, /^«[^«»]+» «[^«»]+\.»$/);
});

test('only growth is alarming', () => {
  const alarming = (words: typeof states | typeof findings): string[] =>
    Object.entries(words).flatMap(([key, { tone }]) => (tone === 'alarm' ? [key] : []));
  assert.deepEqual([alarming(states), alarming(findings)], [['growing'], ['leak']]);
});

test('a row that nothing is known of has no word', () => {
  const silent = Object.entries(states).flatMap(([key, { short }]) => (short === '' ? [key] : []));
  assert.deepEqual(silent, ['unknown']);
});
