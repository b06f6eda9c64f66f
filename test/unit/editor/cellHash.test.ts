import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOf } from '../../../extension/editor/cellHash';

test('the hash of a cell is that of ipykernel', () => {
  // By murmur2_x86 of ipykernel 7.4, with its seed.
  const known = {
    '': 3990065800,
    a: 2167009006,
    ab: 2805137849,
    abc: 3350977461,
    abcd: 804720481,
    'kept.append(torch.ones(500, 500))\n': 4266329686,
    "y = 'ä€😀'\nz": 2320219962,
    ['x'.repeat(1001)]: 2469510316,
  };
  for (const [text, hash] of Object.entries(known)) assert.equal(hashOf(text), hash, text);
});
