import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stackedTimeline } from '../../../extension/report/tables/stackedTimeline';
import { timelineSteps } from '../../../extension/report/tables/timelineSteps';
import type { LedgerSeries, ProcessSteps, SiteSeries } from '../../../extension/protocol/trace';
import { siteWindow, STEP_LOST_EVENTS, type SiteSeriesQuery, type SiteWindow } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo } from '../fakeTrace';

interface FakeSite {
  id: number;
  process?: number;
  file: string;
  line: number;
  thread?: number;
  device?: number;
  now: number;
  /** By step: least, most and last bytes. */
  steps: [number, number, number][];
  spark?: number[];
}

const steps = (process: number, count: number, source: ProcessSteps['source'] = 'optimizer'): ProcessSteps => ({
  process,
  source,
  count,
  lastEndNs: 0,
  sure: true,
  alone: false,
  parts: false,
  idleNs: 0,
  poolsNs: 0,
  touched: 0,
});

class Stepped extends FakeTrace {
  constructor(
    private readonly list: FakeSite[],
    private readonly ends: Record<number, number[]>,
    sources: Record<number, ProcessSteps['source']> = {},
  ) {
    const known = Object.entries(ends).map(([process, all]) =>
      steps(Number(process), all.length, sources[Number(process)]),
    );
    super(makeInfo({ durationNs: 100, steps: known }));
  }

  override sites(): SiteWindow {
    const rows = this.list.map(({ id, process = 0, thread = 0, now: liveBytes, file, line }) => {
      return { id, process, thread, liveBytes, file, line, function: 'f' };
    });
    const spark = Float64Array.from(this.list.flatMap(one => one.spark ?? Array<number>(16).fill(0)));
    return siteWindow(rows, { revision: 3, spark });
  }

  override siteSeries({ process, sites }: SiteSeriesQuery): SiteSeries {
    const rows = this.list.filter(one => sites!.includes(one.id) && (one.process ?? 0) === process);
    const column = (field: number): Float64Array =>
      Float64Array.from(rows.flatMap(one => one.steps.map(at => at[field]!)));
    return {
      rows: rows.length,
      id: Uint32Array.from(rows, one => one.id),
      device: Int32Array.from(rows, one => one.device ?? 0),
      category: rows.map(() => 'parameter'),
      endNs: Float64Array.from(this.ends[process]!),
      minBytes: column(0),
      maxBytes: column(1),
      liveBytes: column(2),
    } as unknown as SiteSeries;
  }

  override ledgerSeries({ process }: { process: number }): LedgerSeries {
    const ends = this.ends[process]!;
    return {
      first: Float64Array.from(ends, (_, i) => i + 1),
      last: Float64Array.from(ends, (_, i) => i + 1),
      endNs: Float64Array.from(ends),
      flags: Uint8Array.from(ends, (_, i) => (i === 1 ? STEP_LOST_EVENTS : 0)),
      fullCollections: Float64Array.from(ends, (_, i) => (i === 0 ? 2 : 0)),
    } as unknown as LedgerSeries;
  }
}

const query = { layer: 'tensor' as const, by: 'line' as const, rank: 'alive' as const, top: 5 };
const weights: FakeSite = {
  id: 1,
  file: '/a.py',
  line: 3,
  now: 50,
  steps: [
    [0, 50, 50],
    [50, 50, 50],
  ],
};
const activations: FakeSite = {
  id: 2,
  file: '/a.py',
  line: 9,
  now: 400,
  steps: [
    [0, 900, 0],
    [0, 900, 0],
  ],
};

test('a group has what it held through the whole step; the running step what it began with and has now', () => {
  const stack = stackedTimeline(new Stepped([weights, activations], { 0: [40, 80] }), query);
  assert.deepEqual([...stack.toNs], [40, 80, 100, 101]);
  assert.equal(stack.unfinished, 2);
  assert.deepEqual(
    stack.groups.map(group => group.line),
    [9, 3],
    'what came in the running step is there now',
  );
  assert.deepEqual([...stack.heldBytes], [0, 0, 0, 400, 0, 50, 50, 50]);
  assert.deepEqual([...stack.mostBytes.subarray(4)], [50, 50, 50, 50]);
});

for (const source of ['time', 'optimizer', 'periodic'] as const)
  test(`the present is what is alive, though the running step rests (${source})`, () => {
    const late: FakeSite = {
      ...weights,
      id: 5,
      line: 11,
      now: 70,
      steps: Array(2).fill([0, 0, 0]) as FakeSite['steps'],
    };
    const other: FakeSite = { ...weights, id: 7, process: 1, line: 30, steps: [[30, 30, 30]], now: 30 };
    const trace = new Stepped([weights, late, other], { 0: [40, 80], 1: [60] }, { 0: source });
    const stack = stackedTimeline(trace, query);
    assert.deepEqual([...stack.toNs], [40, 60, 80, 100, 101]);
    assert.equal(stack.unfinished, 2);
    assert.deepEqual(
      stack.groups.map(group => group.line),
      [3, 11, 30],
    );
    assert.deepEqual([...stack.heldBytes.subarray(5, 10)], [0, 0, 0, 0, 70]);
    assert.deepEqual([...stack.heldBytes.subarray(10)], [30, 30, 30, 30, 30], 'other processes go on');
  });

test('groups by their bytes at the end or by the most they ever held; the sites of a line are one', () => {
  const before: FakeSite = {
    ...weights,
    id: 3,
    line: 20,
    now: 1,
    steps: [
      [70, 70, 70],
      [1, 70, 1],
    ],
  };
  const twin: FakeSite = { ...weights, id: 4 };
  const trace = new Stepped([weights, before, twin], { 0: [40, 80] });
  const lines = (rank: 'alive' | 'peak', top = 5) =>
    stackedTimeline(trace, { ...query, rank, top }).groups.map(group => group.line);
  assert.deepEqual(lines('alive'), [3, 20]);
  assert.deepEqual(stackedTimeline(trace, query).heldBytes.slice(0, 4), Float64Array.of(0, 100, 100, 100));
  assert.deepEqual(lines('alive', 1), [3]);
  const alone = new Stepped([weights, before], { 0: [40, 80] });
  assert.deepEqual(
    stackedTimeline(alone, { ...query, rank: 'peak' }).groups.map(group => group.line),
    [20, 3],
  );
});

test('steps of several processes end at other times: the sum holds between any two ends', () => {
  const other: FakeSite = { ...weights, id: 7, process: 1, now: 30, steps: [[30, 30, 30]] };
  const stack = stackedTimeline(new Stepped([weights, other], { 0: [40, 80], 1: [60] }), query);
  assert.deepEqual([...stack.toNs], [40, 60, 80, 100, 101]);
  assert.deepEqual([...stack.heldBytes], [30, 80, 80, 80, 80]);
});

test('by thread, by category, and of one device', () => {
  const other: FakeSite = {
    ...weights,
    id: 7,
    line: 8,
    thread: 2,
    device: 1,
    now: 60,
    steps: [
      [60, 60, 60],
      [60, 60, 60],
    ],
  };
  const trace = new Stepped([weights, other], { 0: [40, 80] });
  assert.deepEqual(
    stackedTimeline(trace, { ...query, by: 'thread' }).groups.map(group => group.thread),
    [2, 0],
  );
  const [group, ...more] = stackedTimeline(trace, { ...query, by: 'category' }).groups;
  assert.deepEqual([group?.category, more.length], ['parameter', 0]);
  assert.deepEqual(
    stackedTimeline(trace, { ...query, device: 1 }).groups.map(one => one.line),
    [8],
  );
});

test('without a step that ended, 16 samples of the run are what is known', () => {
  const spark = Array.from({ length: 16 }, (_, i) => (i < 8 ? i : 4));
  const stack = stackedTimeline(new Stepped([{ ...weights, spark }], {}), query);
  assert.equal(stack.toNs.length, 16);
  assert.deepEqual([...stack.heldBytes.slice(6, 10)], [5, 6, 4, 4]);
  const fresh = { ...weights, spark: spark.map((_, i) => (i === 15 ? 9 : 0)) };
  assert.equal(stackedTimeline(new Stepped([fresh], {}), query).heldBytes.at(-1), 9, 'what came just now is there');
});

test('the axis is that of the optimizer; losses and collections of all processes are told', () => {
  const trace = new Stepped([], { 0: [10, 20, 30], 1: [15, 25] }, { 0: 'time', 1: 'periodic' });
  const { axis, lost, collections, searches } = timelineSteps(trace, 64);
  assert.equal(axis?.process, 1);
  assert.deepEqual([...lost], [10, 25], 'spans that overlap are one');
  assert.deepEqual([...collections], [10, 15]);
  assert.deepEqual([...searches], []);
  assert.equal(timelineSteps(new Stepped([], { 0: [10] }, { 0: 'time' }), 64).axis, null);
  const both = new Stepped([], { 0: [10, 20], 1: [15] }, { 0: 'periodic', 1: 'optimizer' });
  assert.equal(timelineSteps(both, 64).axis?.process, 1);
});

test('the spans in which the tracer searched for holders come from its answers; the one at the end stops nothing', () => {
  const trace = new Stepped([], { 0: [10, 20] });
  const texts = [
    '{"ok":true,"tookMs":107.2}',
    '{"ok":true,"tookMs":9,"when":"step"}',
    '{"tookMs":5,"when":"exit"}',
    '?',
    '{}',
  ];
  const answers = texts.map((_, index) => ({
    process: 0,
    index,
    request: 0,
    timeNs: 4e9 - 1e9 * index,
    complete: true,
  }));
  trace.info().answers.push(...answers);
  trace.answer = ({ index }) => ({ ...answers[index]!, text: texts[index]!, blocks: [] });
  assert.deepEqual([...timelineSteps(trace, 64).searches], [3e9, 3.009e9, 4e9, 4.1072e9]);
});
