// What live memory was for when an allocation failed, beside what the suggestions name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purposes } from '../../../extension/report/documents/oomReport';

const MB = 1 << 20;
const live = (category: 'gradient' | 'unnamed', bytes: number) => ({ category, bytes, count: 1 });
const advice = [{ kind: 'zero-grad' as const, text: '', bytes: 24 * MB }];

test('gradients that a suggestion names are not unlabeled too', () => {
  const rows = purposes({ aliveByCategory: [live('unnamed', 56 * MB)], advice }, []);
  assert.deepEqual(rows, [
    ['gradient', 24 * MB],
    ['unnamed', 32 * MB],
  ]);
});

test('gradients that have a name are counted by it alone', () => {
  const named = [live('gradient', 24 * MB), live('unnamed', 32 * MB)];
  const rows: unknown = named.map(({ category, bytes }) => [category, bytes]);
  assert.deepEqual(purposes({ aliveByCategory: named, advice }, []), rows);
  assert.deepEqual(purposes({ aliveByCategory: [live('unnamed', MB)], advice: [] }, []), [['unnamed', MB]]);
});
