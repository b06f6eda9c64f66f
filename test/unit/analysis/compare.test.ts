import assert from 'node:assert/strict';
import {
  comparable,
  compareHoldings,
  holdingsAtStep,
  readHoldings,
  type Holding,
  type Places,
} from '../../../extension/report/gate/compareHoldings';
import { comparisonText } from '../../../extension/report/gate/compareText';
import {
  compareChecks,
  pointOf,
  pointText,
  type ComparedTrace,
} from '../../../extension/protocol/requests/compareRequests';
import { NOW } from '../../../extension/protocol/requests/moment';
import { chosenPoints, comparedStep, optionOf, pointOptions } from '../../../webview/explorer/compare/comparePoints';
import { sumsText } from '../../../webview/explorer/compare/compareSums';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { FakeTrace, makeInfo, makeSite } from '../fakeTrace';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const SAME: Places = { cwdA: '/a', cwdB: '/a', sameRun: true };
const OTHER: Places = { cwdA: '/a', cwdB: '/b', sameRun: false };

function line(file: string, number: number, bytes: number, name = 'step', count = 1): Holding {
  return { frames: [{ file, line: number, function: name }], named: 0, bytes, count };
}
const short = ({ file, line, bytesA, bytesB }: { file: string; line: number; bytesA: number; bytesB: number }) =>
  `${file}:${line} ${bytesA} ${bytesB}`;

test('lines of one run: the biggest differences first, with what is new and what is gone', () => {
  const a = [line('/a/t.py', 1, 100), line('/a/t.py', 2, 50), line('/a/t.py', 3, 7)];
  const b = [line('/a/t.py', 1, 130), line('/a/t.py', 3, 7), line('/a/t.py', 4, 10)];
  const { rows, total, added, gone, bytesA, bytesB } = compareHoldings(a, b, SAME, 100);
  assert.deepEqual(rows.map(short), ['/a/t.py:2 50 0', '/a/t.py:1 100 130', '/a/t.py:4 0 10', '/a/t.py:3 7 7']);
  assert.deepEqual({ total, added, gone, bytesA, bytesB }, { total: 4, added: 1, gone: 1, bytesA: 157, bytesB: 147 });
});

test('of many rows only the first are told, the sums are of all', () => {
  const b = Array.from({ length: 10 }, (_, i) => line('/a/t.py', i + 1, 10 + i));
  const { rows, total, bytesB } = compareHoldings([], b, SAME, 2);
  assert.deepEqual([rows.length, total, bytesB, rows[0]?.line], [2, 10, 145, 10]);
});

test('in one run a line does not move', () => {
  const { added, gone } = compareHoldings([line('/a/t.py', 1, 5)], [line('/a/t.py', 2, 5)], SAME, 10);
  assert.deepEqual([added, gone], [1, 1]);
});

test('two runs from two folders are compared by the names below them', () => {
  const { rows } = compareHoldings([line('/a/t.py', 1, 5)], [line('/b/t.py', 1, 9)], OTHER, 10);
  assert.deepEqual(rows.map(short), ['/b/t.py:1 5 9']);
  assert.equal(rows[0]?.movedFrom, null);
});

test('a script under another name is the same script, where one file alone differs', () => {
  const a = [line('/a/train.py', 1, 5), line('/a/train.py', 3, 2, 'loss'), line('/a/model.py', 1, 1)];
  const b = [line('/b/train2.py', 1, 9), line('/b/train2.py', 4, 3, 'loss'), line('/b/model.py', 1, 1)];
  const renamed = compareHoldings(a, b, OTHER, 10);
  assert.deepEqual(renamed.rows.map(short), ['/b/train2.py:1 5 9', '/b/train2.py:4 2 3', '/b/model.py:1 1 1']);
  assert.deepEqual([renamed.added, renamed.gone, renamed.rows[1]?.movedFrom], [0, 0, 3]);
  const side = { file: 'x', atNs: null };
  const text = comparisonText(renamed, 'tensor', { a: side, b: side }).join('\n');
  assertSentence(linesOf(text, /^train2/));
  const two = compareHoldings(a, [...b, line('/b/data.py', 1, 1)], OTHER, 10);
  assert.deepEqual([two.renamed, two.added, two.gone], [null, 3, 2], 'which of two it is nobody knows');
  assert.equal(compareHoldings(a, b, { ...OTHER, sameRun: true }, 10).renamed, null);
  const other = [line('/b/serve.py', 7, 9), line('/b/serve.py', 9, 3, 'answer'), line('/b/model.py', 1, 1)];
  assert.equal(compareHoldings(a, other, OTHER, 10).renamed, null, 'they have no line in common');
});

test('code that stands on other lines in the second run is the same code', () => {
  const a = [line('/a/t.py', 10, 5), line('/a/t.py', 20, 6), line('/a/u.py', 1, 1)];
  const b = [line('/b/t.py', 22, 8), line('/b/t.py', 12, 7), line('/b/u.py', 2, 1), line('/b/u.py', 3, 1)];
  const { rows, added, gone } = compareHoldings(a, b, OTHER, 10);
  assert.deepEqual(
    rows.filter(({ movedFrom }) => movedFrom !== null).map(row => [row.movedFrom, row.line, row.bytesA, row.bytesB]),
    [
      [10, 12, 5, 7],
      [20, 22, 6, 8],
    ],
  );
  assert.deepEqual([added, gone], [2, 1], 'where their number differs nobody can tell which is which');
});

test('lines that moved onto each other’s are those that they were', () => {
  const lines = (folder: string, ...all: number[]): Holding[] =>
    all.map((at, i) => line(`/${folder}/t.py`, at, 10 ** i));
  const moves = (a: Holding[], b: Holding[]): (number | null)[][] =>
    compareHoldings(a, b, OTHER, 10)
      .rows.map(row => [row.line, row.movedFrom, row.bytesB - row.bytesA])
      .sort(([one = 0], [other = 0]) => Number(one) - Number(other));
  assert.deepEqual(moves(lines('a', 8, 9, 10, 11), lines('b', 11, 12, 13, 14)), [
    [11, 8, 0],
    [12, 9, 0],
    [13, 10, 0],
    [14, 11, 0],
  ]);
  assert.deepEqual(moves(lines('a', 8, 9, 10), lines('b', 10, 11, 12, 20)), [
    [10, 8, 0],
    [11, 9, 0],
    [12, 10, 0],
    [20, null, 1000],
  ]);
  assert.deepEqual(moves(lines('a', 17, 18, 20, 23), lines('b', 17, 19, 21)).slice(0, 3), [
    [17, null, 0],
    [19, 18, 0],
    [21, 20, 0],
  ]);
});

test('stacks agree when all their frames do', () => {
  const stack = (caller: number, bytes: number): Holding => ({
    frames: [
      { file: '/lib/python3.12/site-packages/torch/nn/linear.py', line: 5, function: 'forward' },
      { file: '/a/t.py', line: caller, function: 'step' },
    ],
    named: 1,
    bytes,
    count: 1,
  });
  const { rows } = compareHoldings([stack(1, 10), stack(2, 10), stack(2, 1)], [stack(2, 30)], SAME, 10);
  assert.deepEqual(rows.map(short), ['/a/t.py:2 11 30', '/a/t.py:1 10 0']);
  assert.deepEqual(rows[0]?.stack, ['linear.py:5 forward', 't.py:2 step']);
});

test('what has no Python line is one row', () => {
  const none: Holding = { frames: [], named: -1, bytes: 4, count: 1 };
  const { rows } = compareHoldings([none], [none, none], SAME, 10);
  assert.deepEqual(rows.map(short), [':0 4 8']);
});

test('a file of a library is the same in another environment', () => {
  assert.equal(comparable('/x/lib/python3.12/site-packages/torch/a.py', '/'), 'site-packages/torch/a.py');
  assert.equal(comparable('/x/lib/python3.11/json/a.py', '/'), comparable('/y/lib/python3.12/json/a.py', '/z'));
  assert.equal(comparable('/work/t.py', '/work'), 't.py');
  assert.equal(comparable('/workshop/t.py', '/work'), '/workshop/t.py');
});

test('holdings are read from a trace by line and by stack', () => {
  const frames = [
    { file: '/lib/x.py', line: 1, function: 'new' },
    { file: '/a/t.py', line: 7, function: 'step' },
  ];
  const allocation = { address: 1n, bytes: 64, process: 0, thread: 0, layer: 'tensor' as const, timeNs: 0, device: 0 };
  const trace = new FakeTrace(makeInfo({}), [{ ...allocation, site: 1 }], [makeSite({ id: 1, frames, userFrame: 1 })]);
  const query = { layer: 'tensor' as const, process: -1, device: -1 };
  assert.deepEqual(readHoldings(trace, { ...query, by: 'stack' }), [{ frames, named: 1, bytes: 64, count: 1 }]);
  const [byLine] = readHoldings(trace, { ...query, by: 'line' });
  assert.deepEqual(byLine?.frames, [frames[0]], 'the fake trace names the innermost frame');
});

test('a moment travels as a word', () => {
  for (const point of [
    { trace: 0, timeNs: null },
    { trace: 3, timeNs: 12_000_000_000 },
  ])
    assert.deepEqual(pointOf(pointText(point)), point);
  for (const text of ['', '0', 'x:now', '0:-1', '0:1e9', '0:now ']) assert.equal(pointOf(text), null, text);
});

test('a question about two moments is checked', () => {
  const good = {
    a: { trace: 0, timeNs: 5 },
    b: { trace: 1, timeNs: null },
    by: 'line',
    layer: 'tensor',
    process: -1,
    device: 0,
    rows: 10,
  };
  assert.deepEqual(compareChecks.compare(good, 'compare'), good);
  for (const bad of [{ a: { trace: 0, timeNs: -1 } }, { a: null }, { by: 'file' }, { rows: 1e9 }])
    assert.throws(() => compareChecks.compare({ ...good, ...bad }, 'compare'));
});

const SHOWN: ComparedTrace = {
  trace: 0,
  title: 't.py',
  status: 'running',
  startMs: new Date(2020, 10, 29, 14, 32, 5).getTime(),
  live: true,
  marks: [
    { name: 'warm', timeNs: 1e9 },
    { name: 'before eval', timeNs: 2e9 },
  ],
  steps: [{ step: 9, endNs: 2e9 }],
  peakNs: 1.5e9,
  ending: null,
  common: null,
};
const SAVED: ComparedTrace = {
  trace: 4,
  title: 'old.gputrace',
  startMs: new Date(2020, 10, 29, 9, 5, 7).getTime(),
  live: false,
  marks: [],
  steps: [],
  peakNs: null,
  ending: null,
  common: null,
};

test('moments with a name are offered once; of several traces, below the name of each', () => {
  const options = (...traces: ComparedTrace[]) =>
    pointOptions(traces, { kind: 'at', timeNs: 7e8 }, 'en')
      .map(([, label]) => label)
      .join('\n');
  assertSentence(options(SHOWN, SAVED));
  const yesterday = new Date(2020, 10, 28, 9, 5, 7).getTime();
  assertSentence(options({ ...SHOWN, startMs: 0 }, { ...SAVED, startMs: yesterday }));
  assert.equal(pointOptions([SAVED], NOW, 'en').length, 1);
});

test('runs of one program are told apart by number and time, and the chosen one comes first', () => {
  const run = { title: 't.py', live: false, marks: [], peakNs: null };
  const steps = Array.from({ length: 24 }, (_, i) => ({ step: 240 - 10 * i, endNs: (24 - i) * 1e9 }));
  const shown: ComparedTrace = { ...SHOWN, ...run, run: 2, status: 'ended', steps };
  const common = { step: 73, ownNs: 5e9, shownNs: 7.3e9 };
  const before: ComparedTrace = { ...SAVED, ...run, run: 1, status: 'stopped · 1 leak', common };
  const labels = pointOptions([shown, before], NOW, 'en', { trace: 4, timeNs: null }).map(([, label]) => label);
  assertSentence(labels.join('\n'));
  const others = pointOptions([shown, { ...before, title: 'u.py' }], NOW, 'en').filter(([, , heading]) => heading);
  assertSentence(others.map(([, label]) => label).join('\n'), 'each program has several runs');
});

test('of long names of files that begin alike, what differs is in sight', () => {
  const files = ['1', '25'].map((rate, i) => ({ ...SAVED, trace: i, title: `finetune_lr_0.${rate}.gputrace` }));
  const labels = pointOptions([...files, SHOWN], NOW, 'en').filter(([, , heading]) => !heading);
  for (const name of ['…r_0.1.gputrace', '…r_0.25.gputrace'])
    assert.ok(
      labels.some(([, label]) => label.endsWith(` · ${name}`)),
      name,
    );
});

test('of two runs the last step of both is compared, unless moments are chosen', () => {
  const common = { step: 7, ownNs: 5e9, shownNs: 1.4e9 };
  const runs = [SHOWN, { ...SAVED, common }];
  const points = chosenPoints(runs, { a: '4:now', b: null });
  assert.deepEqual(points, { a: { trace: 4, timeNs: 5e9 }, b: { trace: 0, timeNs: 1.4e9 } });
  assert.equal(comparedStep(runs, points.a, points.b), 7);
  const options = pointOptions(runs, NOW, 'en').map(([value]) => value);
  for (const point of [points.a, points.b]) assert.ok(options.includes(optionOf(runs, point)));
  const chosen = chosenPoints(runs, { a: '4:now', b: '0:2000000000' });
  assert.deepEqual(chosen.a, { trace: 4, timeNs: null });
  assert.equal(comparedStep(runs, chosen.a, chosen.b), null);
  assert.equal(comparedStep(runs, points.b, points.b), null, 'two moments of one run');
  const ends = [4, 0].map(trace => ({ trace, timeNs: null }));
  assert.deepEqual(Object.values(chosenPoints(runs, { a: '4:now', b: '0:now' })), ends, 'both ends are chosen');
  const behind = [
    { ...SHOWN, marks: [] },
    { ...SAVED, common: { step: 9, ownNs: 8e9, shownNs: 2e9 } },
  ];
  const { a, b } = chosenPoints(behind, { a: '4:now', b: null });
  assert.deepEqual([optionOf(behind, a), optionOf(behind, b)], ['4:8000000000', '0:now'], 'it goes on');
  assert.equal(comparedStep(behind, a, b), 9);
});

test('programs that have no line in common may be different ones', () => {
  const sums = { rows: [], total: 9, bytesA: 4096, bytesB: 1024, added: 6, gone: 3, renamed: null };
  assertSentence(sumsText(sums));
  assert.notEqual(sumsText({ ...sums, total: 10 }), sumsText(sums));
  assertSentence(sumsText(sums, 1073));
  assert.equal(sumsText({ ...sums, gone: 0, total: 6 }).split(' · ').length, 2, 'nothing was alive before');
});

test('what runs is compared at ends of steps, of which the trace need not be read anew', () => {
  const run = new StepRun();
  for (const site of [1, 2]) run.site(site);
  for (let step = 0; step < 5; step++) {
    run.alloc(1, 100);
    run.free(run.alloc(2, 7));
    run.endStep();
  }
  run.alloc(2, 7); // within the step that runs
  const source = new RunTrace(run, { lines: { 1: 11, 2: 12 }, ended: false });
  const query = { by: 'line', layer: 'tensor', process: -1, device: -1 } as const;
  const at = (timeNs: number | null) =>
    holdingsAtStep(source, query, timeNs, 16)?.map(({ frames, bytes }) => [frames[0]?.line, bytes]);
  const ends = source.siteSeries({ process: 0, layer: 'tensor', from: 0, to: 0, points: 16 }).endNs;
  assert.deepEqual(at(null), [[11, 500]]);
  assert.deepEqual(at(Math.round(ends[1]!)), [[11, 200]]);
  assert.equal(holdingsAtStep(source, query, Math.round(ends[1]!) + 1, 16), null, 'within a step');
  assert.equal(holdingsAtStep(source, { ...query, device: 0 }, null, 16), null);
});

test('by itself the newest mark is compared with now; a closed trace is given up', () => {
  const none = { a: null, b: null };
  const now = { trace: 0, timeNs: null };
  assert.deepEqual(chosenPoints([SHOWN], none), { a: { trace: 0, timeNs: 2e9 }, b: now });
  assert.deepEqual(chosenPoints([SHOWN], { a: '4:now', b: '0:5' }).a, { trace: 0, timeNs: 2e9 });
  assert.deepEqual(chosenPoints([SHOWN, SAVED], { a: '4:now', b: '0:5' }), {
    a: { trace: 4, timeNs: null },
    b: { trace: 0, timeNs: 5 },
  });
  assert.deepEqual(chosenPoints([{ ...SHOWN, marks: [], steps: [] }], none).a, { trace: 0, timeNs: 1.5e9 });
  const steps = [9, 7, 5, 3, 2, 1].map(step => ({ step, endNs: step * 1e8 }));
  const unmarked = { ...SHOWN, marks: [], steps };
  assert.deepEqual(chosenPoints([unmarked], none).a, { trace: 0, timeNs: 3e8 }, 'a step behind the warm-up');
  const short = { ...unmarked, steps: steps.slice(4) };
  assert.deepEqual(chosenPoints([short], none).a, { trace: 0, timeNs: 1e8 }, 'there is none');
  assert.deepEqual(chosenPoints([unmarked, SAVED], none, 4).a, { trace: 4, timeNs: null }, 'the run before');
});

test('where the end is empty, the moment that is shown instead has its name, and is compared with a step before it', () => {
  const ending = {
    timeNs: 3e9,
    step: 10,
    bytes: 8,
    title: 'As of the end of step 10',
    when: 'at the end of step 10',
    reason: '',
    show: '',
  };
  const steps = [
    { step: 10, endNs: 3e9 },
    { step: 9, endNs: 2e9 },
  ];
  const ended = { ...SHOWN, live: false, marks: [], steps, ending };
  assertSentence(pointOptions([ended], NOW, 'en')[0]?.[1]);
  const points = { a: { trace: 0, timeNs: 2e9 }, b: { trace: 0, timeNs: null } };
  assert.deepEqual(chosenPoints([ended], { a: null, b: null }), points);
  assert.deepEqual(
    chosenPoints([{ ...ended, ending: null }], { a: null, b: null }),
    points,
    'also where it is not empty',
  );
});
