import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleText } from '../../../extension/text/moduleText';

const filled = (text: string, value = ''): string => text.replace('{0}', value);

test('a module that is a bare number cannot be read as a count; a name stays', () => {
  const texts = {
    '1': 'module [1]',
    '2.0': 'module [2.0]',
    '0–3 (4 of 2 MiB)': 'modules [0–3] (4 of 2 MiB)',
    '0,2': 'modules [0,2]',
    '*': 'modules [*]',
    'layers.0': 'layers.0',
    '0.attn': '0.attn',
    '(no module)': '(no module)',
    '': '',
  };
  for (const [path, expected] of Object.entries(texts)) assert.equal(moduleText(path, filled), expected);
});
