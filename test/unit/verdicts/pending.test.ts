import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgePending } from '../../../extension/analysis/ledger/pending';

const BLOCK = 64 << 20;

/** What is judged of so many steps; `read` gives the blocks that wait at a step, NaN where nobody asked. */
function judged(steps: number, read: (step: number) => number) {
  const last = Float64Array.from({ length: steps }, (_, i) => i + 1);
  const reservedBytes = new Float64Array(steps).fill(200 * BLOCK);
  return judgePending({ last, pendingBytes: last.map(step => read(step) * BLOCK), reservedBytes });
}

/** Step and blocks that wait, of a program whose side stream falls behind by two blocks in three steps: one slow answer, by which
 * the allocator is not asked for 95 steps. */
const READINGS = [
  [1, 1], [3, 2], [6, 4], [8, 6], [11, 8], [14, 10], [18, 13], [20, 14], [23, 16], [26, 18], [29, 20], [31, 21], [35, 24],
  [54, 37], [57, 39], [59, 39], [61, 40], [64, 42], [65, 42], [69, 45], [72, 47], [75, 49], [78, 51], [80, 52], [82, 53],
  [85, 55], [87, 57], [90, 59], [94, 62], [96, 63], [98, 64], [101, 66], [103, 68], [110, 72], [114, 75], [132, 87],
  [227, 148], [241, 156], [254, 165], [265, 172], [276, 179], [281, 181], [292, 189],
] as const; // prettier-ignore

test('what is read often at first, then not for long, then seldom, grows all the same', () => {
  const blocks = new Map<number, number>(READINGS);
  const pending = judged(292, step => blocks.get(step) ?? NaN);
  const perStep = (pending?.growth?.perStep ?? 0) / BLOCK;
  assert.ok(perStep > 0.6 && perStep < 0.7, String(perStep));
});

test('one step up is no growth, though it was read often below and seldom above', () => {
  const level = (step: number): number => (step < 72 ? 6 : 18) + ((step * 7) % 5 < 2 ? 1 : 0);
  assert.equal(
    judged(120, step => (step <= 24 || step % 6 === 0 ? level(step) : NaN)),
    null,
  );
});
