import assert from 'node:assert/strict';
import { readSnapshot } from '../../../extension/report/tables/snapshot';
import { missingLines, renderTable } from '../../../extension/report/tables/table';
import { textOf } from '../../../extension/text/escapeForTerminal';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals, type FakeAllocation } from '../fakeTrace';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const KB = 1024;
const MB = 1024 * KB;
const now = new Date('2025-08-25T15:45:33+07:00');

const site = makeSite({
  id: 1,
  frames: [
    { file: '/usr/lib/python3.12/site-packages/torch/nn/linear.py', line: 125, function: 'forward' },
    { file: '/home/user/train.py', line: 41, function: 'Model.forward' },
  ],
  userFrame: 1,
});
const backward = makeSite({ id: 2, source: 'forward', frames: [{ file: 'train.py', line: 44, function: 'loss' }] });
const driverSite = makeSite({ id: 3, layer: 'driver', frames: [{ file: 'train.py', line: 41, function: 'f' }] });

function allocation(address: bigint, bytes: number, thread: number, siteId: number): FakeAllocation {
  return { address, bytes, thread, process: 0, layer: 'tensor', site: siteId, timeNs: 0, device: 0 };
}
const process = makeProcess({
  threads: [
    { index: 0, tid: 2166793, name: 'python' },
    { index: 1, tid: 2167089, name: 'pt_autograd_0' },
    { index: 2, tid: 2167090, name: 'idle' },
  ],
});
const allocations = [
  allocation(0x7d331d200000n, KB, 0, 1),
  allocation(0x7d332a000000n, 20 * MB, 0, 1),
  allocation(0x7d331d200400n, 128 * KB, 0, 99),
  allocation(0x7d332b400000n, 8 * MB, 1, 2),
];
const tensor = makeTotals({
  liveBytes: 28 * MB + 129 * KB,
  liveCount: 4,
  peakBytes: 40 * MB,
  allocations: 9,
  frees: 5,
});
const driver = makeTotals({ layer: 'driver', liveBytes: 44 * MB, liveCount: 3, peakBytes: 44 * MB, allocations: 3 });
const text = (trace: FakeTrace, top: number | null = 20): string =>
  textOf(renderTable(readSnapshot(trace, { top, groupBy: 'line', groups: 5 }), { now }));

test('the table in the form of the first experiment, with lines', () => {
  const info = makeInfo({ events: 14, processes: [process], totals: [tensor, driver] });
  assertSentence(text(new FakeTrace(info, allocations, [site, backward, driverSite])));
});

test('what waits for a stream stands behind the tensors', () => {
  const info = makeInfo({ processes: [process], totals: [tensor, driver] });
  const snapshot = readSnapshot(new FakeTrace(info, allocations, [site]), { top: 5, groupBy: 'line', groups: 5 });
  const none = { bytes: null, bytesPerStep: null };
  const ledger = {
    ...{
      process: 0,
      device: 0,
      libraries: [],
      usedBytes: null,
      totalBytes: null,
      remainderBytes: null,
      grows: null,
      text: '',
    },
    ...{ tensor: none, reserved: none, driver: none, processBytes: none },
    pending: { bytes: 3 * MB, bytesPerStep: 0 },
  };
  const verdicts = { ...snapshot.verdicts, ledger: [ledger] };
  const lines = renderTable({ ...snapshot, verdicts }, { now });
  const at = lines.findIndex(line => line.includes('gpu_0: 3 MiB'));
  assertSentence(lines[at]);
  assert.match(lines[at - 1] ?? '', /^ {2}tensor layer, gpu_0/);
});

test('unasked, blocks are listed where there are at most ten', () => {
  const info = makeInfo({ processes: [process], totals: [tensor] });
  const blocks = (count: number): FakeAllocation[] =>
    Array.from({ length: count }, (_, i) => allocation(BigInt(0x1000 + i), KB, i % 2, 1));
  const listed = (count: number, top: number | null): number =>
    text(new FakeTrace(info, blocks(count), [site]), top).match(/^ {4}0x/gm)?.length ?? 0;
  assert.deepEqual([listed(10, null), listed(11, null), listed(11, 20)], [10, 0, 11]);
  const without = text(new FakeTrace(info, blocks(11), [site]), null);
  assert.match(without, /^PID: 2166793 \/ UID: 0\nTOTAL LIVE: /m);
});

test('of more processes than are wanted the rest is counted and summed', () => {
  const processes = [0, 1, 2].map(index => makeProcess({ index, pid: 100 + index, threads: [] }));
  const totals = processes.map(({ index }) => makeTotals({ process: index, liveBytes: MB, allocations: 1 }));
  const snapshot = readSnapshot(new FakeTrace(makeInfo({ processes, totals }), [], []), {
    ...{ top: null, groupBy: 'line', groups: 5 },
  });
  const lines = renderTable(snapshot, { now, processes: 1 });
  assert.ok(lines.includes('... and 2 more processes: 2 MiB'));
  assert.deepEqual(
    lines.filter(line => line.startsWith('PID')),
    ['PID: 100 / UID: 0'],
  );
});

test('no line is longer than the terminal is wide, and each keeps its number', () => {
  const file = `/home/user/${'models/'.repeat(12)}train_the_whole_model_again.py`;
  const long = makeSite({ id: 1, frames: [{ file, line: 114, function: 'Trainer.loss_of_a_long_name_indeed' }] });
  const info = makeInfo({
    processes: [process],
    totals: [{ ...tensor, allocations: 123_456_789, frees: 123_456_000 }],
  });
  const snapshot = readSnapshot(new FakeTrace(info, allocations, [long]), { top: 5, groupBy: 'line', groups: 5 });
  const lines = renderTable(snapshot, { now, width: 60 });
  assert.deepEqual(
    lines.filter(line => line.length > 60),
    [],
  );
  const named = lines.filter(line => line.includes(':114'));
  assert.equal(named.length, 3);
  for (const line of named) assert.match(line, /tra.*n\.py:114 Trainer\./);
});

test('before anything happened a sentence says so', () => {
  assertSentence(text(new FakeTrace(makeInfo({}))));
});

test('without tensors the driver layer is listed', () => {
  const rows = [{ ...allocation(0x1000n, 2 * MB, 0, 3), layer: 'driver' as const }];
  const info = makeInfo({ processes: [process], totals: [driver] });
  const lines = text(new FakeTrace(info, rows, [driverSite])).split('\n');
  assert.ok(lines.includes('    0x1000:gpu_0: 2 MiB  train.py:41 f'));
  assert.ok(lines.includes('TOTAL LIVE: 44 MiB'));
  assertSentence(lines[1]);
});

test('what does not fit is counted', () => {
  const info = makeInfo({ processes: [process], totals: [tensor] });
  const lines = text(new FakeTrace(info, allocations, [site]), 1).split('\n');
  assert.ok(lines.includes('    ... and 2 more: 129 KiB'));
});

test('pinned host memory stands under its own heading and in no total of the GPU', () => {
  const rows = [...allocations, { ...allocation(0x5000n, 4 * MB, 0, 1), layer: 'host' as const, device: -1 }];
  const host = makeTotals({
    layer: 'host',
    device: -1,
    liveBytes: 4 * MB,
    liveCount: 1,
    peakBytes: 4 * MB,
    allocations: 1,
  });
  const info = makeInfo({ processes: [process], totals: [tensor, host] });
  const output = text(new FakeTrace(info, rows, [site]));
  assert.match(output, /^TOTAL LIVE: 28\.13 MiB$/m);
  assertSentence(output);
});

test('where there is pinned memory alone it is what is listed, once', () => {
  const pinned = { ...allocation(0x5000n, 3 * MB, 0, 4), layer: 'host' as const, device: -1 };
  const info = makeInfo({
    processes: [process],
    totals: [makeTotals({ layer: 'host', device: -1, liveBytes: 3 * MB, allocations: 1 })],
  });
  const shown = text(new FakeTrace(info, [pinned], [makeSite({ id: 4, layer: 'host' })]));
  assert.match(shown, /^TOTAL LIVE: 3 MiB$/m);
  assertSentence(linesOf(shown, /^LIVE/));
  assert.equal(shown.split('0x5000').length, 2);
});

test('losses, failures and warnings are said; other notes only at the end', () => {
  const noted = makeProcess({
    simulated: true,
    notes: [
      { code: 1, text: 'Python 3.99 is not known.' },
      { code: 4, text: 'CUPTI is /x/libcupti.so.13.' },
      { code: 7, text: 'Another injection library is called as well.' },
    ],
  });
  const info = makeInfo({
    events: 1,
    processes: [noted],
    totals: [{ ...tensor, failed: 2 }],
    lost: { events: 12, byCause: { 'disk full': 10, budget: 2 } },
    outOfMemory: [
      {
        process: 0,
        device: 0,
        layer: 'tensor',
        requestedBytes: 2096 * MB,
        timeNs: 1,
        site: 1,
        liveBytes: 28 * MB,
        thread: 0,
        freeBytes: null,
        snapshot: null,
      },
    ],
  });
  const lost = new FakeTrace({ ...info, totals: [{ ...driver, device: -1, failed: 2 }] }, [], [site]);
  assert.match(text(lost), /^ {2}driver layer, unknown GPU: .*, 2 failed$/m);
  const trace = new FakeTrace(info, [], [site]);
  const output = text(trace);
  assert.match(output, /, 2 failed$/m);
  for (const kind of [/simulated/, /^DROPPED EVENTS: 12/, /^OUT OF/, /^NOTE.*3\.99/, /^NOTE.*library/])
    assertSentence(linesOf(output, kind));
  assert.doesNotMatch(output, /CUPTI/);
  const running = missingLines(trace.info(), false);
  assert.equal(running.length, 2);
  assertSentence(running.join('\n'));
  const nameless = { events: 0, byCause: { 'function without a name': 2 } };
  const incomplete = text(new FakeTrace({ ...info, lost: nameless }, [], [site]));
  assertSentence(linesOf(incomplete, /^INCOMPLETE/));
  const many = new FakeTrace({ ...info, outOfMemoryCount: 75_424 }, [], [site]);
  assertSentence(linesOf(text(many), /75,424/));
});
