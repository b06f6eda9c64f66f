import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestSizes } from '../../../extension/fit/requestSizes';
import { madeRun, type Made } from './madeRun';

const MIB = 2 ** 20;

/** What the last allocation requested, if all others are known. */
function last(allocations: readonly Made[]): number | undefined {
  const run = madeRun(allocations.map((one, at) => ({ ...one, begin: at + 1 })));
  const exact = Uint8Array.from({ length: run.count }, (_, at) => (at === run.count - 1 ? 0 : 1));
  const bytes = requestSizes(run, exact).at(-1);
  return bytes === undefined ? undefined : bytes / MIB;
}

const made = (mib: number, more: Partial<Made> = {}): Made => ({ bytes: mib * MIB, begin: 0, ...more });

test('a gradient, and what the optimizer holds, is as large as its parameter', () => {
  const parameter = made(2.25, { category: 'parameter', module: 'up' });
  const others = [made(2.5), made(2.5)];
  assert.equal(last([parameter, ...others, made(3, { category: 'optimizer', module: 'up' })]), 2.25);
  assert.equal(last([parameter, ...others, made(3, { category: 'gradient', module: 'up' })]), 2.25);
  assert.equal(last([parameter, ...others, made(3, { pass: 'optimizer', module: 'up' })]), 2.25);
  assert.equal(last([parameter, ...others, made(3, { category: 'activation' })]), 2.5);
});

test('of several sizes that fit, the one that most tensors of the step have', () => {
  const others = [5.25, 5.25, 5.25, 5.375, 9].map(mib => made(mib));
  assert.equal(last([...others, made(5.75)]), 5.25);
  assert.equal(last([...others, made(5.75, { step: 2 })]), 5.75, 'nothing is known of another step');
});

test('a large tensor may have two to four times as many numbers as others', () => {
  const others = [49, 49, 24.5].map(mib => made(mib));
  assert.equal(last([...others, made(148)]), 147);
  assert.equal(last([...others, made(99)]), 98);
  assert.equal(last([made(1.5), made(6.5)]), 6.5, 'of small ones this says nothing');
});
