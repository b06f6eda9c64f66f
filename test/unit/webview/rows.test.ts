import assert from 'node:assert/strict';
import type { Frame, ProcessInfo, TraceInfo } from '../../../extension/protocol/trace';
import { COLUMNS } from '../../../webview/explorer/common/columns';
import { headline } from '../../../webview/explorer/ledger/ledgerText';
import { isOfBackward } from '../../../extension/protocol/trace';
import { growthText, rowAt, sparkPoints, trendOf } from '../../../webview/explorer/common/rows';
import { siteWindow as window } from './siteWindow';
import { SiteRows } from '../../../webview/explorer/table/siteRows';
import { foldFrames, isLibrary } from '../../../webview/explorer/common/stack';
import { WORDS } from '../../../webview/explorer/common/vocabularyWords';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const processes = [{ index: 3, threads: [{ index: 2, tid: 99, name: 'worker' }] }] as ProcessInfo[];

test('bars are to the scale of what is alive now, also after more was for a moment', () => {
  const rows = new SiteRows(() => Promise.resolve(undefined));
  const full = (revision: number, bytes: number, from = 0): number => {
    rows.set(window({ revision, liveBytes: Float64Array.of(bytes) }), from);
    return rows.fullBytes;
  };
  assert.deepEqual([full(1, 10), full(2, 900), full(3, 20)], [10, 900, 20]);
  assert.deepEqual([full(3, 5, 40), full(4, 6, 40)], [20, 20], 'below the first rows the scale stays');
});

test('the columns know the threads of the rows, until another question than the moment comes', () => {
  const rows = new SiteRows(() => Promise.resolve(undefined));
  for (const thread of [2, 2, 5]) rows.set(window({ thread: Int32Array.of(thread) }), 0);
  assert.equal(rows.threads.size, 2);
  rows.reset(false);
  assert.equal(rows.threads.size, 2, 'the end of a run takes no column away');
  rows.reset(true);
  assert.equal(rows.threads.size, 0);
});

test('a row names file, line, function, thread and device', () => {
  const row = rowAt(window({}), 0, 'line', processes, 'tensor');
  assert.deepEqual([row.primary, row.secondary, row.title], ['train.py:41', 'forward', '/home/a/train.py:41']);
  assert.deepEqual([row.thread, row.device], ['worker:99', 'cuda:1']);
});

test('a row of another group shows its own name first', () => {
  assert.equal(rowAt(window({}), 0, 'thread', processes, 'tensor').primary, 'worker:99');
  assert.equal(rowAt(window({}), 0, 'function', processes, 'tensor').primary, 'forward');
});

test('a module that is a bare number is no count', () => {
  const modules = window({ file: [''], line: Uint32Array.of(0), label: ['1'] });
  assert.match(rowAt(modules, 0, 'module-path', processes, 'tensor').primary, /^module \[1\]$/);
});

test('a group keeps its key while its biggest site changes', () => {
  const other = window({ id: Uint32Array.of(9), label: ['python:99'], liveBytes: Float64Array.of(1) });
  for (const groupBy of ['line', 'function', 'thread'] as const) {
    assert.equal(rowAt(other, 0, groupBy, [], 'tensor').key, rowAt(window({}), 0, groupBy, [], 'tensor').key);
  }
  assert.notEqual(rowAt(other, 0, 'site', [], 'tensor').key, rowAt(window({}), 0, 'site', [], 'tensor').key);
});

test('a line keeps its growth while its biggest site changes; one of which nothing is known yet has none', () => {
  const rows = new SiteRows(() => Promise.resolve(undefined));
  const rate = (id: number, line = 41): unknown => {
    rows.set(window({ id: Uint32Array.of(id), line: Uint32Array.of(line) }), 0);
    return [rows.row(0)!.bytesPerStep, rows.unjudged()];
  };
  rate(5);
  const asked = rows.ids();
  rate(9); // before the answer comes
  rows.judge(asked, new Map([[5, { state: 'growing', because: '', bytesPerStep: 1024 }]]));
  assert.deepEqual(
    [rate(9), rate(5), rate(5, 42)],
    [
      [1024, false],
      [1024, false],
      [NaN, true],
    ],
  );
  rows.reset(false); // another moment
  assert.deepEqual(rate(9), [1024, false]);
  rows.reset(true);
  assert.deepEqual(rate(9), [NaN, true]);
});

test('of a group whose figures are not known, the cells are empty', () => {
  const unknown = Float64Array.of(NaN);
  const row = rowAt(
    window({
      label: ['unnamed'],
      peakBytes: unknown,
      allocations: unknown,
      frees: unknown,
      allocatedBytes: unknown,
      growth: unknown,
      spark: new Float64Array(16).fill(NaN),
    }),
    0,
    'category',
    processes,
    'tensor',
  );
  assert.deepEqual([row.primary, row.trend, row.spark], [WORDS.categories.unnamed, 'steady', null], 'as on the peak');
  for (const id of ['peak', 'allocations', 'frees', 'allocated', 'growth'] as const) {
    const column = COLUMNS.find(one => one.id === id)!;
    assert.deepEqual([column.text(row), column.value(row)], ['', ''], id);
  }
  assert.equal(COLUMNS.find(one => one.id === 'live')!.text(row), '20 MiB');
});

test('no Python line, several threads, host memory', () => {
  const none = {
    file: [''],
    line: Uint32Array.of(0),
    function: [''],
    thread: Int32Array.of(-1),
    device: Int32Array.of(-1),
  };
  const row = rowAt(window(none), 0, 'line', processes, 'host');
  assert.deepEqual([row.thread, row.device], ['several threads', 'host']);
  assertSentence(row.primary);
  const several = rowAt(window(none), 0, 'line', processes, 'tensor');
  assert.equal(several.device, '', 'a GPU that is not known is no host memory');
});

test('a row is marked as of the backward pass only where it is', () => {
  const marked = (['python', 'none', 'before-attach', 'forward', 'forward-near', 'backward-call'] as const).filter(
    isOfBackward,
  );
  assert.deepEqual(marked, ['forward', 'forward-near', 'backward-call']);
});

test('only what grows beyond noise is called growing', () => {
  assert.equal(trendOf(2 * MB, 100 * MB), 'growing');
  assert.equal(trendOf(-2 * MB, 100 * MB), 'shrinking');
  assert.equal(trendOf(900, 0), 'steady');
  assert.equal(trendOf(50_000, 100 * MB), 'steady');
  assert.equal(growthText(MB, 'growing'), '+1 MiB/s');
  assert.equal(growthText(-123.4 * MB, 'shrinking'), '\u2212123.4 MiB/s', 'the unit is not what gives way');
  assert.equal(growthText(900, 'steady'), '');
});

test('a spark line stays in its box; without change it is flat', () => {
  const numbers = (text: string): number[][] => text.split(' ').map(pair => pair.split(',').map(Number));
  const rising = numbers(
    sparkPoints(
      Float64Array.from({ length: 16 }, (_, i) => i * MB),
      48,
      18,
    ),
  );
  assert.equal(rising.length, 16);
  assert.ok(rising[0]![1]! > rising[15]![1]!, 'more bytes are higher up');
  for (const [x, y] of rising) assert.ok(x! >= 0 && x! <= 48 && y! >= 0 && y! <= 18);
  const flat = numbers(sparkPoints(new Float64Array(16).fill(7), 48, 18));
  assert.equal(new Set(flat.map(([, y]) => y)).size, 1);
  const heights = numbers(sparkPoints(Float64Array.of(321, 320, 321, 322), 48, 18)).map(([, y]) => y!);
  assert.ok(Math.max(...heights) - Math.min(...heights) < 0.5, 'what changes little is flat');
});

test('library frames fold in runs; a single one stays, dim', () => {
  const frame = (file: string): Frame => ({ file, line: 1, function: 'f' });
  const torch = '/v/lib/python3.12/site-packages/torch/nn/module.py';
  const items = foldFrames([
    frame('/a/m.py'),
    frame(torch),
    frame(torch),
    frame('/a/t.py'),
    frame('/usr/lib/python3.12/x.py'),
  ]);
  assert.deepEqual(
    items.map(item => (item.kind === 'folded' ? item.label : `${item.frame.file} ${item.library}`)),
    ['/a/m.py false', '2 frames in torch', '/a/t.py false', '/usr/lib/python3.12/x.py true'],
  );
  assert.ok(isLibrary('<frozen importlib._bootstrap>'));
  assert.ok(!isLibrary('<stdin>') && !isLibrary('/home/lib/train.py'));
});

test('the header counts tensors where there are any, and no byte twice', () => {
  const info = {
    devices: [
      { index: 0, name: 'A', totalBytes: 100 },
      { index: 1, name: 'B', totalBytes: 100 },
    ],
    totals: [
      { device: 0, layer: 'tensor', liveBytes: 10, peakBytes: 30, allocations: 4, frees: 1 },
      { device: 0, layer: 'driver', liveBytes: 50, peakBytes: 60, allocations: 2, frees: 0 },
      { device: -1, layer: 'host', liveBytes: 7, peakBytes: 7, allocations: 1, frees: 0 },
    ],
  } as TraceInfo;
  assert.deepEqual(headline(info), { liveBytes: 10, peakBytes: 30, totalBytes: 100, allocations: 4, frees: 1 });
});
