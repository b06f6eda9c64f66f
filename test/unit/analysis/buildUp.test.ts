import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildUps, hasRounds } from '../../../extension/report/tables/buildUp';
import { PASSES, type Pass } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeSite, type FakeAllocation } from '../fakeTrace';

const MB = 1 << 20;
const frame = (line: number) => [{ file: '/home/ada/train.py', line, function: 'step' }];
const SITES = [15, 22, 23, 30].map(line => makeSite({ id: line, frames: frame(line), userFrame: 0 }));

/** A step with so many micro-batches, each with a forward pass at n × 100 and a backward pass behind it, read amid the last of these. */
class Step extends FakeTrace {
  constructor(
    private readonly rounds: number,
    blocks: readonly { line: number; timeNs: number }[],
    private readonly optimizers = 0,
  ) {
    const rows = blocks.map(({ line, timeNs }, at): FakeAllocation => {
      const fixed = { process: 0, thread: 0, layer: 'tensor', device: 0 } as const;
      return { ...fixed, address: BigInt(at + 1) << 20n, bytes: 2 * MB, site: line, timeNs };
    });
    super(makeInfo({ durationNs: 100 * rounds + 90 }), rows, SITES);
  }
  override passes(): Float64Array {
    const begin = (ns: number, pass: Pass): number[] => [ns, PASSES.indexOf(pass)];
    const rounds = Array.from({ length: this.rounds }, (_, i) => [
      ...begin(100 * (i + 1), 'forward'),
      ...begin(100 * (i + 1) + 50, 'backward'),
    ]);
    const steps = Array.from({ length: this.optimizers }, (_, i) => begin(100 * this.rounds + 60 + i, 'optimizer'));
    return Float64Array.from([...rounds, ...steps].flat());
  }
}
const built = (step: Step, peakBytes = 60 * MB) =>
  buildUps(step, { process: 0, device: 0 }, 0, peakBytes).map(({ line, bytes, count, rounds }) => [
    line,
    bytes / MB,
    count,
    rounds,
  ]);
const each = (rounds: number, line: number, offset: number) =>
  Array.from({ length: rounds }, (_, i) => ({ line, timeNs: 100 * (i + 1) + offset }));

test('what outlives its backward pass, round after round of one step, builds up; what the running pass needs does not', () => {
  const collected = each(8, 15, 10);
  const newest = [{ line: 22, timeNs: 810 }]; // an activation of the running round
  assert.deepEqual(built(new Step(8, [...collected, ...newest])), [['train.py:15 step', 14, 7, 7]]);
});

test('gradients, what was there before the first round, and a little of the peak are no build-up', () => {
  const gradients = each(8, 30, 60);
  const inputs = Array.from({ length: 8 }, () => ({ line: 23, timeNs: 5 }));
  assert.deepEqual(built(new Step(8, [...gradients, ...inputs])), []);
  assert.deepEqual(built(new Step(8, each(8, 15, 10)), 4096 * MB), []);
});

test('two backward passes of a step are no rounds', () => {
  assert.deepEqual(built(new Step(3, each(3, 15, 10))), []);
  assert.equal(hasRounds(new Step(3, [], 2), 0), false);
  assert.equal(hasRounds(new Step(8, [], 1), 0), true);
});
