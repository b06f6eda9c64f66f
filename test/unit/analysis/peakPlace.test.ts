import assert from 'node:assert/strict';
import fc from 'fast-check';
import { PASSES, type LedgerSeries, type TimelineQuery } from '../../../extension/protocol/trace';
import { peakPlace } from '../../../extension/report/tables/nextPeak';
import { explainPeak, nextPeakSentence, peakSentence } from '../../../extension/report/tables/peak';
import { sentencesOf } from '../../sentences.mjs';
import { FakeTrace, makeInfo, makeSite, makeTotals } from '../fakeTrace';

const { test, assertSentence } = sentencesOf(__filename);

/** Two steps that end at 100 and 200 ns, and a block that is allocated behind them. */
class TwoSteps extends FakeTrace {
  constructor() {
    const totals = [makeTotals({ layer: 'tensor', process: 0, device: 0, liveBytes: 4096, peakBytes: 4096 })];
    const steps = [{ process: 0, source: 'optimizer', count: 2 }] as never;
    const block = { address: 1n << 20n, bytes: 4096, process: 0, thread: 0, site: 1, timeNs: 250, device: 0 };
    const site = makeSite({ id: 1, frames: [{ file: '/x/train.py', line: 22, function: 'step' }], userFrame: 0 });
    super(makeInfo({ durationNs: 300, totals, steps }), [{ ...block, layer: 'tensor' }], [site]);
  }
  /** A forward pass that nothing ends. */
  override passes(): Float64Array {
    return Float64Array.of(120, PASSES.indexOf('forward'));
  }
  override ledgerSeries(): LedgerSeries {
    const [first, endNs] = [Float64Array.of(1, 2), Float64Array.of(100, 200)];
    const none = Float64Array.of(NaN, NaN);
    return { first, last: first, endNs, tensorMaxNs: none, tensorMaxBytes: none } as unknown as LedgerSeries;
  }
}

test('a peak after the last step is in no step', async () => {
  const trace = new TwoSteps();
  for (const [ns, step] of [
    [150, 2],
    [250, null],
  ] as const) {
    const place = await peakPlace(trace, ns, async (_untilNs, read) => read(trace));
    assert.equal(place?.step, step);
    const peak = place && explainPeak(trace, place);
    assert.ok(peak);
    assert.equal(peak.phase, step === null ? 'other' : 'forward', 'what nothing ends is over with the steps');
    assertSentence(peakSentence(peak));
  }
});

/** Its second step peaks at 150 ns; what is kept of its begin is kept with the end of the step before, which was higher. */
class PeakInSecond extends TwoSteps {
  constructor(private readonly buckets: readonly (readonly [beginNs: number, min: number, max: number])[]) {
    super();
  }
  override timeline(): Float64Array {
    return Float64Array.from(this.buckets.flatMap(([beginNs, min, max]) => [beginNs, min, max, min]));
  }
  override ledgerSeries(): LedgerSeries {
    const [tensorMaxNs, tensorMaxBytes] = [Float64Array.of(95, 150), Float64Array.of(4050, 4096)];
    return { ...super.ledgerSeries(), tensorMaxNs, tensorMaxBytes };
  }
}

test('the next highest peak of a step is no peak of the step before', async () => {
  const nextOf = async (...later: (readonly [number, number, number])[]) => {
    const trace = new PeakInSecond([
      [90, 1024, 4050],
      [120, 1024, 2048],
      [130, 1024, 1024],
      [140, 1024, 4096],
      ...later,
    ]);
    const place = await peakPlace(trace, 150, async (_untilNs, read) => read(trace));
    return { place, peak: place && explainPeak(trace, place) };
  };
  assert.equal((await nextOf()).place?.next?.bytes, 2048);
  const { place, peak } = await nextOf([160, 1024, 1024], [170, 1024, 3072]);
  assert.equal(place?.next?.bytes, 3072);
  assert.ok(peak);
  assertSentence(nextPeakSentence(peak));
  const [within, over] = [[{ line: 'a.py:1' }], { line: 'a.py:1', holder: null }] as never[];
  assert.equal(nextPeakSentence({ ...peak, buildUp: within! }), '', 'what builds up raises both');
  assert.equal(nextPeakSentence({ ...peak, stepsBuildUp: over! }), '');
});

/** A run of single bytes' levels, one a nanosecond, in steps of `STEP_NS`, and what it answers. */
const STEP_NS = 8;
class Levels extends TwoSteps {
  constructor(readonly levels: readonly number[]) {
    super();
    const [total] = this.info().totals;
    total!.peakBytes = Math.max(...levels);
  }
  override timeline({ fromNs, toNs }: TimelineQuery): Float64Array {
    return Float64Array.from(
      this.levels.flatMap((bytes, ns) => (ns >= fromNs && ns < toNs ? [ns, bytes, bytes, bytes] : [])),
    );
  }
  override ledgerSeries(): LedgerSeries {
    const count = this.levels.length / STEP_NS;
    const steps = Float64Array.from({ length: count }, (_, i) => i + 1);
    const tops = [...steps].map(step => {
      const own = this.levels.slice((step - 1) * STEP_NS, step * STEP_NS);
      return { bytes: Math.max(...own), at: own.indexOf(Math.max(...own)) + (step - 1) * STEP_NS };
    });
    const endNs = steps.map(step => step * STEP_NS);
    const tensorMaxNs = Float64Array.from(tops, top => (top.at % STEP_NS === 0 ? NaN : top.at));
    const tensorMaxBytes = Float64Array.from(tops, top => top.bytes);
    return { first: steps, last: steps, endNs, tensorMaxNs, tensorMaxBytes } as unknown as LedgerSeries;
  }
}

test('no other moment of the run is above what lowering the peak alone leaves', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 9 }),
      fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 3, maxLength: 9 }),
      async (tops, lows) => {
        // Each step rises to a top of its own and falls to nothing, twice.
        const levels = tops.flatMap((top, i) => [0, 0, 100 * top, 0, 0, 10 * lows[i % lows.length]!, 0, 0]);
        const most = Math.max(...levels);
        const [first, ...more] = levels.flatMap((bytes, ns) => (bytes === most ? [ns] : []));
        fc.pre(most > 100 && first !== undefined);
        // Of steps that are as high, the second peak is not looked for.
        fc.pre(more.every(ns => levels[ns + 3]! <= levels[first! + 3]!));
        const trace = new Levels(levels);
        const place = await peakPlace(trace, first, async (_untilNs, read) => read(trace));
        const same = new Set([first, ...more]);
        const others = levels.filter((_, ns) => !same.has(ns));
        assert.equal(place?.next?.bytes ?? 0, Math.max(...others));
        assert.equal(place?.next?.step ?? 0, others.length === 0 ? 0 : expectedStep(levels, same, first));
      },
    ),
  );
  const trace = new Levels([0, 0, 144, 0, 0, 84, 0, 0, 0, 0, 112, 0, 0, 0, 0, 0]);
  const place = await peakPlace(trace, 2, async (_untilNs, read) => read(trace));
  const parts = { bytes: 144, next: place?.next ?? null, stepsBuildUp: null, buildUp: [] };
  assertSentence(nextPeakSentence(parts as never));
});

test('where memory never falls between the steps, few reads tell so', async () => {
  let reads = 0;
  class Counted extends Levels {
    override timeline(query: TimelineQuery): Float64Array {
      reads++;
      return super.timeline(query);
    }
  }
  const rising = Array.from({ length: 200 }, (_, step) => [990, 990, 1000 + step, 990, 990, 990, 990, 990]);
  const read = async (levels: number[]) => {
    reads = 0;
    const trace = new Counted(levels);
    return peakPlace(trace, levels.indexOf(1300), async (_untilNs, use) => use(trace));
  };
  assert.equal((await read([...rising.flat(), 990, 990, 1300, 990, 990, 990, 990, 990]))?.next?.step, 200);
  assert.ok(reads < 30, `${reads} reads where there is a dip`);
  const flat = Array.from({ length: 200 }, () => [1000, 1000, 1010, 1000, 1000, 1000, 1000, 1000]);
  assert.equal((await read([...flat.flat(), 1000, 1000, 1300, 1000, 1000, 1000, 1000, 1000]))?.next ?? null, null);
  assert.ok(reads < 6, `${reads} reads where there is none`);
});

/** The step of the highest of the other moments; 0: the same step, or none. */
function expectedStep(levels: readonly number[], same: ReadonlySet<number>, peak: number): number {
  const most = Math.max(...levels.filter((_, ns) => !same.has(ns)));
  const steps = levels.flatMap((bytes, ns) => (bytes === most && !same.has(ns) ? [Math.floor(ns / STEP_NS) + 1] : []));
  const own = Math.floor(peak / STEP_NS) + 1;
  return steps.includes(own) || most === 0 ? 0 : steps[0]!;
}

test('a module that is a bare number is no count', () => {
  const parts = { bytes: 4096, device: 0, step: 51, module: '1', ranges: '', modules: [{ module: '1' }] };
  assert.match(peakSentence({ ...parts, phase: 'forward' } as never), / module \[1\]/);
});

test('a step of the optimizer is named once, though PyTorch names a range for it too', () => {
  const parts = { bytes: 4096, device: 0, step: 51, module: '', modules: [{ module: 'body' }] };
  const sentence = (phase: string, ...names: string[]) =>
    peakSentence({ ...parts, phase, ranges: names.join(' › ') } as never);
  const called = 'Optimizer.step#AdamW.step';
  assert.equal(sentence('optimizer', called), sentence('optimizer'));
  assert.equal(sentence('optimizer', 'train_step', called), sentence('optimizer', 'train_step'));
  assert.notEqual(sentence('other', called), sentence('other'), 'where nothing else says it');
  assertSentence(sentence('optimizer', 'train_step', called));
});
