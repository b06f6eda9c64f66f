import assert from 'node:assert/strict';
import test from 'node:test';
import { batchArgument } from '../../../extension/text/batchArgument';

test('the batch is taken from the one argument that has it', () => {
  for (const words of ['--batch 64', '--batch-size=64', '--batch_size 64', '--bs 64', '-b 64', 'batch_size=64 lr=2'])
    assert.equal(batchArgument(['python', 'train.py', ...words.split(' '), '--steps', '5']), 64, words);
  for (const words of ['', '--batch', '--batch auto', '--batch 1.5', '-b 8 --batch 64', '--minibatches 64', 'b 64'])
    assert.equal(batchArgument(['python', 'train.py', ...words.split(' ')]), null, words);
});
