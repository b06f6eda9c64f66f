import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitEnd, fitLabel, fitPath, wrapLine, wrapTightly } from '../../../extension/report/tables/fit';
import { columns, lengthOf } from '../../../extension/text/textColumns';

test('paths give way in their middle', () => {
  assert.equal(fitPath('/home/me/models/train.py', 24), '/home/me/models/train.py');
  assert.equal(fitPath('/home/me/models/train.py', 19), '…/models/train.py');
  assert.equal(fitPath('/home/me/models/train.py', 12), '…/train.py');
  assert.equal(fitPath('train_with_a_long_name.py', 13), 'train_…ame.py');
  assert.equal(fitLabel('/home/me/models/train.py:114', 23), '…/models/train.py:114');
});

test('a function keeps its head, and a line its number', () => {
  const label = 'sample_train.py:114 Trainer.loss_of';
  assert.equal(fitLabel(label, 35), label);
  assert.equal(fitLabel(label, 34), 'sample_train.py:114 Trainer.loss_…');
  assert.equal(fitLabel(label, 26), 'samp…n.py:114 Trainer.los…');
  assert.equal(fitLabel('(nothing known)', 8), '(nothin…');
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z/]{1,40}\.py$/),
      fc.nat(99_999),
      fc.stringMatching(/^\w{1,40}$/),
      (file, n, name) => {
        for (let width = 40; width >= 24; width--) {
          const fitted = fitLabel(`${file}:${n + 1} ${name}`, width);
          assert.ok(lengthOf(fitted) <= width, fitted);
          const shown = new RegExp(`:${n + 1} (\\w+)`).exec(fitted)?.[1] ?? '';
          assert.ok(name.startsWith(shown) && shown.length >= Math.min(name.length, 6), fitted);
        }
      },
    ),
  );
});

test('lines break between words, and code stays whole', () => {
  assert.deepEqual(wrapLine('  one two three', 11), ['  one two', '      three']);
  assert.deepEqual(wrapLine('use `a = b + c` now', 12), ['use', '    `a = b + c`', '    now']);
  assert.deepEqual(wrapTightly('use `a = b + c` now', 12), ['use', '    `a = b +', ' c`', '    now']);
  assert.deepEqual(wrapLine('wide enough', 11), ['wide enough']);
  assert.equal(fitEnd('abc', 1), '');
});

test('columns are as wide as their widest cell; empty ones are not there', () => {
  const rows = [
    ['1 MiB', '', 'x'],
    ['12 KiB', '', ''],
  ];
  assert.deepEqual(columns(rows, [true, false, false]), [' 1 MiB x', '12 KiB  ']);
});
