import assert from 'node:assert/strict';
import { test } from 'node:test';
import { code, codePath, plain } from '../../../extension/text/markdown';

const HOSTILE: [string, string][] = [
  ['see https://evil.example/x', 'see https\\://evil.example/x'],
  ['WWW.evil.example', 'WWW\\.evil.example'],
  ['me@evil.example and @octocat', 'me\\@evil.example and \\@octocat'],
  ['[a](b) <img src=x> *b* ~~c~~ | d', '\\[a\\](b) \\<img src=x> \\*b\\* \\~\\~c\\~\\~ \\| d'],
  ['a\n# b', 'a # b'],
  ['`<b>` <b>', '`<b>` \\<b>'],
  ['C:\\x', 'C:\\\\x'],
  ['train.py:8 step_of_three', 'train.py:8 step_of_three'],
  ['__main__.cache', '\\_\\_main\\_\\_.cache'],
];

test('names are text outside of code', () => {
  for (const [name, expected] of HOSTILE) assert.equal(plain(name), expected);
});

test('the path of a holder is code, the words around it are not', () => {
  const paths = ['losses[...] (its graph)', 'cycle of Node', '__main__.cache'].map(codePath);
  assert.deepEqual(paths, ['`losses[...]` (its graph)', 'cycle of `Node`', '`__main__.cache`']);
});

test('what stands in code stays there, also in a table', () => {
  assert.equal(code('a`b|c'), '`a’b\\|c`');
});
