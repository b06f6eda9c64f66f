import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peakAgain, peakInside } from '../../../extension/analysis/ledger/peakInside';
import type { Timeline, TimelineQuery, TraceSource } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeTotals } from '../fakeTrace';

/** A series as the model keeps it: in buckets no narrower than `widthNs`. */
class Series extends FakeTrace {
  queries = 0;

  constructor(
    private readonly changes: readonly [number, number][],
    private readonly widthNs: number,
    info = makeInfo({ totals: [] }),
  ) {
    super(info);
  }

  override timeline({ fromNs, toNs, buckets }: TimelineQuery): Timeline {
    this.queries++;
    const width = Math.max(Math.ceil((toNs - fromNs) / buckets / this.widthNs) * this.widthNs, this.widthNs);
    const kept = new Map<number, [number, number, number]>();
    let before = 0;
    for (const [timeNs, bytes] of this.changes) {
      const own = Math.floor(timeNs / this.widthNs) * this.widthNs;
      if (own + this.widthNs <= fromNs) before = bytes;
      if (own + this.widthNs <= fromNs || own >= toNs) continue;
      // As the model does: the first one begins where what it is made of begins.
      const begin = kept.size === 0 ? own : Math.max(Math.floor(own / width) * width, [...kept.keys()].at(-1)!);
      const known = kept.get(begin) ?? [Infinity, -Infinity, 0];
      kept.set(begin, [Math.min(known[0], bytes), Math.max(known[1], bytes), bytes]);
    }
    const out = [...kept].flatMap(([begin, values]) => [begin, ...values]);
    if (before > 0 && (out.length === 0 || out[0]! > fromNs)) out.unshift(fromNs, before, before, before);
    return Float64Array.from(out);
  }
}

const STEPS: [number, number][] = [
  [1_000, 10],
  [50_123, 70],
  [50_200, 20],
  [900_000, 90],
  [900_050, 5],
];
const span = (fromNs: number, toNs: number) => ({ series: 'tensor' as const, fromNs, toNs });

test('the peak of a span is found to the nanosecond where the series is kept so', () => {
  const series = new Series(STEPS, 1);
  assert.deepEqual(peakInside(series, span(0, 1_000_000)), { fromNs: 900_000, toNs: 900_000, bytes: 90 });
  assert.deepEqual(peakInside(series, span(0, 800_000)), { fromNs: 50_123, toNs: 50_123, bytes: 70 });
});

test('else it is as exact as the bucket: its begin and its end come back', () => {
  assert.deepEqual(peakInside(new Series(STEPS, 4096), span(0, 800_000)), { fromNs: 49_152, toNs: 53_247, bytes: 70 });
});

test('a value that was there before the span and only falls has its peak at the begin', () => {
  const falling = new Series([...STEPS, [950_000, 2]], 1);
  assert.deepEqual(peakInside(falling, span(60_000, 899_000)), { fromNs: 60_000, toNs: 60_000, bytes: 20 });
});

test('nothing in the span is no peak', () => {
  assert.equal(peakInside(new Series([], 1), span(0, 5)).bytes, 0);
});

test('few questions are enough, whatever the run is long', () => {
  const many: [number, number][] = Array.from({ length: 20_000 }, (_, i) => [i * 1e7 + 3, (i * 7919) % 20_011]);
  const series = new Series(many, 65_536);
  const peak = peakInside(series, span(0, 2e11));
  const best = many.reduce((a, b) => (b[1] > a[1] ? b : a));
  assert.equal(peak.bytes, best[1]);
  assert.ok(peak.fromNs <= best[0] && best[0] <= peak.toNs);
  assert.ok(peak.toNs - peak.fromNs < 65_536);
  assert.ok(series.queries < 60, `${series.queries} questions`);
});

test('the totals know the peak of the run exactly, for one process and device', () => {
  const peak = { peakBytes: 80, peakNs: 50_150 };
  const one = new Series(STEPS, 4096, makeInfo({ totals: [makeTotals(peak)] }));
  assert.deepEqual(peakInside(one, span(0, 60_000)), { fromNs: 50_150, toNs: 50_150, bytes: 80 });
  assert.equal(peakInside(one, span(0, 40_000)).bytes, 10, 'it is not in this span');
  const totals = [makeTotals(peak), makeTotals({ ...peak, device: 1, peakNs: 7 })];
  const two: TraceSource = new Series(STEPS, 4096, makeInfo({ totals }));
  assert.equal(peakInside(two, span(0, 60_000)).bytes, 70, 'the sum of two has a peak of its own');
  assert.equal(peakInside(two, { ...span(0, 60_000), device: 0 }).fromNs, 50_150);
});

test('in the trace read up to it the peak is known by its bytes, though its time is another', () => {
  const moved = makeInfo({ totals: [makeTotals({ peakBytes: 70, peakNs: 50_199 })] });
  const trace = new Series(STEPS, 4096, moved);
  const query = span(50_000, 50_150);
  assert.deepEqual(peakAgain(trace, query, 70), { fromNs: 50_199, toNs: 50_199, bytes: 70 });
  assert.equal(peakAgain(trace, query, 71).fromNs < 50_199, true, 'other bytes are another peak');
});

test('the peak of whole steps lies in them, though a bucket does not end with them', () => {
  const totals = [makeTotals({ layer: 'tensor', process: 0, device: 0, peakBytes: 90, peakNs: 900_000 })];
  const steps = [{ process: 0, source: 'optimizer', count: 3 }] as never;
  const series = new Series([...STEPS.slice(0, 3), [51_000, 75], ...STEPS.slice(3)], 4096, makeInfo({ totals, steps }));
  series.ledgerSeries = () =>
    ({
      endNs: Float64Array.of(20_000, 50_900, 51_500),
      tensorMaxNs: Float64Array.of(1_000, 50_123, 51_000),
      tensorMaxBytes: Float64Array.of(10, 70, 75),
    }) as never;
  const last = span(20_000, 50_900);
  const peak = { fromNs: 50_123, toNs: 50_123, bytes: 70 };
  assert.deepEqual(peakInside(series, last), peak);
  assert.deepEqual(peakInside(series, span(0, 50_900)), peak);
  assert.equal(peakInside(series, span(20_000, 50_901)).bytes, 75, 'no whole steps: that of the bucket');
});
