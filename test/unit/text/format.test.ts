import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatPlural,
  formatRate,
  formatTimestamp,
} from '../../../extension/text/format';

test('bytes read in units of 1024 with two decimals, one from 100 on, unless they are 0', () => {
  const cases: [number, string][] = [
    [0, '0 B'],
    [512, '512 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [128 * 1024, '128 KiB'],
    [20 * 1024 ** 2, '20 MiB'],
    [2096 * 1024 ** 2, '2.05 GiB'],
    [70.25 * 1024 ** 2, '70.25 MiB'],
    [149.5 * 1024 ** 2, '149.5 MiB'],
    [772.96 * 1024, '773 KiB'],
    [99.996 * 1024, '100 KiB'],
    [999.96 * 1024, '1000 KiB'],
    [1024 ** 2 - 1, '1 MiB'],
    [3 * 1024 ** 4, '3 TiB'],
    [1004 * 1024, '1004 KiB'],
    [1023.4 * 1024, '1023 KiB'],
    [1023.6 * 1024, '1 MiB'],
    [-2048, '−2 KiB'],
    [NaN, '?'],
  ];
  for (const [bytes, text] of cases) assert.equal(formatBytes(bytes), text);
});

test('no size reads as 1024 of a unit, and a reader gets it back within rounding', () => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 52 }), bytes => {
      const [number = '', unit = ''] = formatBytes(bytes).split(' ');
      assert.ok(Number(number) < 1024, `${number} ${unit}`);
      const scale = 1024 ** units.indexOf(unit);
      assert.ok(
        Math.abs(Number(number) * scale - bytes) <=
          scale * (Number(number) < 100 ? 0.0051 : Number(number) < 1000 ? 0.051 : 0.51),
      );
    }),
  );
});

test('rates carry a sign and say nothing when nothing changes', () => {
  assert.equal(formatRate(1.2 * 1024 ** 2), '+1.20 MiB/s');
  assert.equal(formatRate(-2048), '−2 KiB/s');
  assert.equal(formatRate(0.2), '');
  assert.equal(formatRate(NaN), '');
});

test('counts, plurals and durations', () => {
  assert.equal(formatCount(1234567), '1,234,567');
  assert.equal(formatCount(12), '12');
  assert.equal(formatPlural(1, 'process', 'processes'), '1 process');
  assert.equal(formatPlural(2, 'process', 'processes'), '2 processes');
  const cases: [number, string][] = [
    [850, '850 ns'],
    [12.34e6, '12.3 ms'],
    [4.2e9, '4.20 s'],
    [59.999e9, '1 min 00 s'],
    [185e9, '3 min 05 s'],
    [7440e9, '2 h 04 min'],
  ];
  for (const [time, text] of cases) assert.equal(formatDuration(time), text);
});

test('a timestamp names the moment and its offset', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), seconds => {
      const text = formatTimestamp(new Date(seconds * 1000));
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
      assert.equal(Date.parse(text), seconds * 1000);
    }),
  );
});
