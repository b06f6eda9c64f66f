import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findPeriod, findResets, piecesOf } from '../../../extension/analysis/series/changes';

const options = { shortest: 3, gain: 12, floor: 0.1 };
const repeat = (value: number, times: number): number[] => new Array<number>(times).fill(value);
const ramp = (from: number, by: number, times: number): number[] =>
  Array.from({ length: times }, (_, i) => from + by * i);

test('pieces cover the series, each with its mean', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 60 }), values => {
      const pieces = piecesOf(values, options);
      assert.equal(pieces[0]?.from, 0);
      assert.equal(pieces.at(-1)?.to, values.length);
      pieces.forEach((piece, i) => {
        if (i > 0) assert.equal(piece.from, pieces[i - 1]?.to);
        const part = values.slice(piece.from, piece.to);
        assert.ok(Math.abs(piece.mean - part.reduce((a, b) => a + b, 0) / part.length) < 1e-9);
        if (pieces.length > 1) assert.ok(part.length >= options.shortest);
      });
    }),
  );
});

test('a change of rate is cut where it is, to the entry', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 80 }), fc.integer({ min: 5, max: 80 }), (before, after) => {
      const pieces = piecesOf([...repeat(0, before), ...repeat(1, after)], options);
      assert.deepEqual(pieces, [
        { from: 0, to: before, mean: 0 },
        { from: before, to: before + after, mean: 1 },
      ]);
    }),
  );
});

test('one rate is one piece, however noisy', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), seed => {
      let state = seed;
      const values = repeat(0, 80).map(() => {
        state = (state * 48271) % 2147483647;
        return 10 + (state % 5);
      });
      assert.ok(piecesOf(values, { ...options, gain: 30 }).length === 1);
    }),
  );
});

test('resets of a sawtooth are found where they are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 40 }), fc.integer({ min: 1, max: 6 }), (length, teeth) => {
      const values = Array.from({ length: teeth + 1 }, () => ramp(0, 3, length)).flat();
      const resets = findResets(values, 0.5, 3);
      assert.deepEqual(
        resets.map(reset => reset.at),
        Array.from({ length: teeth }, (_, i) => (i + 1) * length),
      );
      assert.ok(resets.every(reset => reset.height === 3 * (length - 1) && reset.trough === 0));
    }),
  );
});

test('a reset takes back at least half, and three times the usual rise', () => {
  assert.equal(findResets([...ramp(0, 1, 20), 12, 13, 14], 0.5, 3).length, 0, '7 of 19 is no reset');
  assert.equal(findResets([...ramp(0, 1, 20), 9, 10, 11], 0.5, 3).length, 1);
  assert.equal(findResets([0, 1, 2, 0, 1, 2, 0], 0.5, 3).length, 0, 'two blocks go: as usual');
  assert.equal(findResets(ramp(0, 1, 30), 0.5, 3).length, 0);
});

test('the period of a series that repeats itself', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 25 }), period => {
      const values = Array.from({ length: period * 6 }, (_, i) => i % period);
      assert.equal(findPeriod(values, 0.5), period);
    }),
  );
  assert.equal(findPeriod(repeat(7, 40), 0.5), null);
  assert.equal(findPeriod(ramp(0, 1, 40), 0.5), null, 'a ramp repeats nothing');
});
