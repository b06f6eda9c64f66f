import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { byteTicks, timeLabel, timeTicks } from '../../../webview/explorer/timeline/ticks';

const GB = 1024 ** 3;
const labels = (from: number, to: number, most: number): string[] => {
  const ticks = timeTicks(from, to, most);
  return ticks.map(tick => timeLabel(tick, ticks[1]! - ticks[0]!));
};

test('bytes stand at round numbers of one unit', () => {
  const bytes = (top: number, most: number): string[] => byteTicks(top, most).map(({ label }) => label);
  assert.deepEqual(bytes(10.2 * GB, 4), ['0', '5 GiB', '10 GiB']);
  assert.deepEqual(bytes(7 * GB, 4), ['0', '2 GiB', '4 GiB', '6 GiB']);
  assert.deepEqual(bytes(1.9 * GB, 4), ['0', '0.5 GiB', '1 GiB', '1.5 GiB']);
  assert.deepEqual(bytes(4.5 * GB, 2), ['0', '2 GiB', '4 GiB'], 'a label above 0 comes before the room');
  assert.deepEqual(bytes(0, 4), ['0', '1 B']);
});

test('the byte axis has round labels up to its top, of one unit, one above 0 at least', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e14, noNaN: true }), fc.integer({ min: 1, max: 12 }), (top, most) => {
      const ticks = byteTicks(top, most);
      const [, step] = ticks;
      assert.ok(step && ticks.at(-1)!.value <= top && ticks.at(-1)!.value + step.value > top);
      assert.ok(ticks.length <= Math.max(most, 2) + 2, `${ticks.length} labels for ${most}`);
      assert.equal(new Set(ticks.slice(1).map(({ label }) => label.split(' ')[1])).size, 1);
      assert.match(step.label, /^(0\.0*)?[125]0* /);
    }),
  );
});

test('times are said as people say them, as exactly as the step needs', () => {
  assert.deepEqual(labels(0, 30e9, 4), ['0 s', '10 s', '20 s', '30 s']);
  assert.deepEqual(
    labels(50e9, 200e9, 5),
    ['60 s', '1:30', '2:00', '2:30', '3:00'].map(text => text.replace('60 s', '1:00')),
  );
  assert.deepEqual(labels(3600e9, 10800e9, 3), ['1:00:00', '2:00:00', '3:00:00']);
  assert.deepEqual(labels(1.2e9, 1.5e9, 3), ['1.2 s', '1.3 s', '1.4 s', '1.5 s']);
  assert.deepEqual(labels(0, 2e6, 2), ['0 ms', '1 ms', '2 ms']);
});

test('labels of one axis differ from each other and are no more than fit', () => {
  const span = fc.tuple(
    fc.integer({ min: 0, max: 1e14 }),
    fc.integer({ min: 1000, max: 1e14 }),
    fc.integer({ min: 2, max: 12 }),
  );
  fc.assert(
    fc.property(span, ([from, length, most]) => {
      const shown = labels(from, from + length, most);
      assert.ok(shown.length <= most + 1);
      assert.equal(new Set(shown).size, shown.length, shown.join(' | '));
    }),
  );
});
