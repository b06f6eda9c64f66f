import assert from 'node:assert/strict';
import { parseTraceTime } from '../../../extension/protocol/traceTime';
import { resolveTraceTime } from '../../../extension/report/documents/resolveTraceTime';
import type { LedgerSeries } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeTotals } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

/** Steps 1 to 4 are kept as one, 5 and 6 singly. */
class Stepping extends FakeTrace {
  override ledgerSeries(): LedgerSeries {
    const axis = { first: [1, 5, 6], last: [4, 5, 6], endNs: [4e9, 5e9, 6e9] };
    return Object.fromEntries(Object.entries(axis).map(([name, values]) => [name, Float64Array.from(values)])) as never;
  }
}
const steps = [
  {
    process: 0,
    source: 'optimizer' as const,
    count: 6,
    lastEndNs: 6e9,
    sure: true,
    alone: false,
    parts: false,
    idleNs: 0,
    poolsNs: 0,
    touched: 0,
  },
];
const trace = new Stepping(makeInfo({ durationNs: 8e9, totals: [makeTotals({})], steps }));
const found = (text: string, source = trace) => resolveTraceTime(parseTraceTime(text) ?? { seconds: NaN }, source);
const ns = (text: string, source = trace): unknown => {
  const moment = found(text, source);
  return 'ns' in moment ? moment.ns : moment;
};
const problem = (text: string, source = trace): string | undefined => {
  const moment = found(text, source);
  return 'error' in moment ? moment.error : undefined;
};
/** Its name is a sentence. */
function named(text: string): object {
  const { text: name, ...moment } = { text: undefined, ...found(text) };
  assertSentence(name);
  return moment;
}

test('times of a trace', () => {
  assert.deepEqual(
    ['2', '2s', '2000ms', '0.05m', '25%', '100%', 'step:6'].map(text => ns(text)),
    [2e9, 2e9, 2e9, 3e9, 2e9, 8e9, 6e9],
  );
});

test('the peak, of the device that held most in the layer that is listed', () => {
  const totals = [
    makeTotals({ layer: 'driver', peakBytes: 900, peakNs: 1e9 }),
    makeTotals({ layer: 'tensor', peakBytes: 300, peakNs: 2e9 }),
    makeTotals({ layer: 'tensor', device: 1, peakBytes: 400, peakNs: 3e9 }),
  ];
  assert.equal(ns('peak', new Stepping(makeInfo({ totals }))), 3e9 + 100);
  assertSentence(problem('peak', new Stepping(makeInfo({ totals: [] }))));
});

test('when memory ran out last', () => {
  const failure = (timeNs: number): object => ({ process: 0, device: 0, layer: 'tensor', requestedBytes: 1, timeNs });
  const outOfMemory = [failure(1e9), failure(3e9)] as never;
  assert.equal(ns('oom', new Stepping(makeInfo({ outOfMemory }))), 3e9);
  assertSentence(problem('oom', new Stepping(makeInfo({}))));
});

test('what is no time', () => {
  for (const text of ['', '-1s', '1 s', 's', '1d', 'step:', 'step:0', 'step:1.5', '101%', '1e3']) {
    assert.equal(parseTraceTime(text), null, text);
  }
});

test('a time that the trace does not have is one sentence', () => {
  assertSentence(problem('9s'));
  assertSentence(problem('step:7'));
  assertSentence(problem('step:1', new Stepping(makeInfo({}))));
});

test('a moment is called what it was named; of steps that are kept as one the nearest end stands for each', () => {
  assert.deepEqual(named('step:6'), { ns: 6e9, near: false });
  assert.deepEqual(named('2s'), { ns: 2e9, near: false });
  assert.deepEqual(named('25%'), { ns: 2e9, near: false });
  for (const step of [1, 3]) assert.deepEqual(named(`step:${step}`), { ns: 4e9, near: true });
  const long = new Stepping(trace.info());
  const axis = { first: [1, 5, 25], last: [4, 24, 25], endNs: [4e9, 24e9, 25e9] };
  long.ledgerSeries = () =>
    Object.fromEntries(Object.entries(axis).map(([name, values]) => [name, Float64Array.from(values)])) as never;
  assert.equal(ns('step:6', long), 4e9);
});

test('a mark by its name, of several the newest', () => {
  const marks = [
    { name: 'before eval', timeNs: 1e9 },
    { name: 'before eval', timeNs: 3e9 },
    { name: 'warm', timeNs: 2e9 },
  ];
  const marked = new Stepping(makeInfo({ durationNs: 8e9, session: { marks } }));
  assert.equal(ns('mark:before eval', marked), 3e9);
  assertSentence(problem('mark:cold', marked));
  assertSentence(problem('mark:cold'));
});
