// Levels at the ends of steps that make more records than chance would.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeGrowth } from '../../../extension/analysis/series/growth';
import { THRESHOLDS as T } from '../../../extension/analysis/series/thresholds';
import { chanceOfRecords, drift } from '../../../extension/analysis/series/records';

const levels = (values: number[]) => ({ steps: values.map((_, i) => i + 1), values, lag: 0 });
const growth = (values: number[]): boolean => judgeGrowth(levels(values)).state === 'growing';

test('the law of records: one more at the i-th level with probability 1/i', () => {
  assert.equal(chanceOfRecords(1, 1), 1);
  assert.ok(Math.abs(chanceOfRecords(7, 7) - 1 / 5040) < 1e-12, 'nothing but rises: 1/7!');
  assert.ok(
    Math.abs(chanceOfRecords(3, 2) - 2 / 3) < 1e-12,
    'of the six orders of three levels two have one record alone',
  );
  const mean = [...Array(50).keys()].reduce((all, r) => all + chanceOfRecords(50, r + 1), 0);
  const harmonic = [...Array(50).keys()].reduce((all, i) => all + 1 / (i + 1), 0);
  assert.ok(Math.abs(mean - harmonic) < 1e-9);
});

test('a level that rises with each tenth step grows; since when, how often and how fast', () => {
  const found = judgeGrowth(levels(Array.from({ length: 151 }, (_, i) => 3 * Math.floor(i / 10))));
  assert.deepEqual([found.state, found.since, found.events, found.gap], ['growing', 11, 15, 10]);
  assert.ok(Math.abs(found.perStep - 0.3) < 0.03, `${found.perStep}`);
});

test('what stopped, what fell back, and what thins out does not grow', () => {
  assert.ok(growth(Array.from({ length: 40 }, (_, i) => i)));
  assert.ok(!growth(Array.from({ length: 40 }, (_, i) => Math.min(i, 20))), 'stopped');
  assert.ok(!growth(Array.from({ length: 40 }, (_, i) => (i < 39 ? i : 2))), 'gave it back');
  assert.ok(!growth(Array.from({ length: 2000 }, (_, i) => Math.floor(10 * Math.log(1 + i)))), 'fills up');
});

test('levels without a trend are hardly ever taken for growth', () => {
  const level = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 20, maxLength: 256 });
  let [flagged, all] = [0, 0];
  fc.assert(
    fc.property(level, values => {
      all++;
      if (growth(values)) flagged++;
    }),
    { numRuns: 2000, seed: 7 },
  );
  assert.ok(flagged <= 0.003 * all, `${flagged} of ${all}`);
});

test('a walk by chance seldom drifts; a trend under noise does', () => {
  let state = 5;
  const next = (): number => (state = (state * 48271) % 2147483647) / 2147483647 - 0.5;
  let far = 0;
  for (let round = 0; round < 1000; round++) {
    let level = 0;
    if (drift(Array.from({ length: 80 }, () => (level += next()))) >= T.drift) far++;
  }
  assert.ok(far <= 15, `${far} of 1000 walks`);
  assert.ok(drift(Array.from({ length: 80 }, (_, i) => i / 4 + 6 * next())) >= T.drift);
  assert.ok(!(drift(Array.from({ length: 80 }, () => 7)) >= T.drift), 'the same all the time');
});
