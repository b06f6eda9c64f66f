// What holds for every series, whatever it is of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeGrowth, type Growth } from '../../../extension/analysis/series/growth';
import { fewestRecords } from '../../../extension/analysis/series/records';

const judge = (values: number[], lag = 0): Growth => judgeGrowth({ steps: values.map((_, i) => i + 1), values, lag });
/** Levels from changes of a step; never below zero. */
const series = (minLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: -3, max: 4 }), { minLength, maxLength: 120 }).map(changes => {
    let level = 0;
    return changes.map(change => (level = Math.max(0, level + change)));
  });

test('blocks or bytes: the unit changes no state, and scales the slope', () => {
  fc.assert(
    fc.property(series(1), fc.integer({ min: 2, max: 1e6 }), (values, unit) => {
      const [one, other] = [judge(values), judge(values.map(value => value * unit))];
      assert.deepEqual(
        [other.state, other.since, other.events, other.waits],
        [one.state, one.since, one.events, one.waits],
      );
      assert.ok(Math.abs(other.perStep - one.perStep * unit) <= 1e-9 * unit);
    }),
  );
});

test('the numbers of the steps change no state', () => {
  fc.assert(
    fc.property(series(1), fc.integer({ min: 1, max: 1e6 }), (values, first) => {
      const moved = judgeGrowth({ steps: values.map((_, i) => first + i), values, lag: 0 });
      const plain = judge(values);
      assert.deepEqual([moved.state, moved.since - first, moved.waits], [plain.state, plain.since - 1, plain.waits]);
    }),
  );
});

test('a series that never rises after its warm-up never grows', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 80 }), falls => {
      let level = 1000;
      const state = judge(falls.map(fall => (level = Math.max(0, level - fall)))).state;
      assert.ok(['flat', 'empty', 'sawtooth'].includes(state), state);
    }),
  );
});

test('a straight ramp grows from its first step on, whatever its gap, height and beginning', () => {
  const positive = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
  fc.assert(
    fc.property(positive(12), positive(1000), positive(100), positive(60), (gap, rise, begins, more) => {
      const length = begins + gap * (fewestRecords() + 3) + 6 + more;
      const values = Array.from({ length }, (_, i) =>
        i + 1 < begins ? 0 : rise * (1 + Math.floor((i + 1 - begins) / gap)),
      );
      const growth = judge(values);
      assert.equal(growth.state, 'growing');
      assert.ok(growth.since >= begins && growth.since <= begins + 4 * gap, `${growth.since} for ${begins}`);
      assert.equal(growth.gap, gap);
    }),
  );
});

test('a ramp that ends has stopped after one and a half gaps', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 0, max: 60 }), (gap, silence) => {
      const ramp = Array.from({ length: gap * 20 + 1 }, (_, i) => 1 + Math.floor(i / gap));
      const state = judge([...ramp, ...new Array<number>(silence).fill(ramp.at(-1) ?? 0)]).state;
      assert.equal(state, silence > Math.max(3, 1.5 * gap) ? 'stopped' : 'growing');
    }),
  );
});

test('what is added and taken away in equal parts by chance does not grow', () => {
  let growing = 0;
  let state = 11;
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 1000; round++) {
    let level = 20;
    const values = Array.from({ length: 120 }, () => (level = Math.max(0, level + (next() < 0.5 ? 1 : -1))));
    if (judge(values).state === 'growing') growing++;
  }
  assert.ok(growing <= 25, `${growing} of 1000 random walks`);
});

test('nothing, and one step, are too little for anything', () => {
  assert.equal(judge([0]).state, 'empty');
  assert.equal(judge([5]).state, 'flat');
  assert.equal(judge([5, 6]).state, 'flat');
});
