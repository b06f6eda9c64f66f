import assert from 'node:assert/strict';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals } from '../fakeTrace';
import { wholeReport } from '../wholeReport';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const user = { file: '/home/user/train.py', line: 41, function: 'forward' };
const inner = { file: '/lib/site-packages/torch/nn/linear.py', line: 125, function: 'forward' };
const site = makeSite({ id: 7, frames: [inner, user], userFrame: 1 });

const info = makeInfo({
  session: {
    command: ['python', 'train.py'],
    simulated: true,
    startedRealtimeMs: 0,
    processes: [{ pid: 10, exitCode: 3 }],
  },
  processes: [makeProcess({ pid: 10, threads: [{ index: 0, tid: 10, name: 'python' }] })],
  devices: [{ index: 0, name: 'GPU', totalBytes: 1000 }],
  totals: [
    makeTotals({ pid: 10, liveBytes: 300, peakBytes: 400, allocations: 5, frees: 3 }),
    makeTotals({ pid: 10, layer: 'driver', liveBytes: 500, peakBytes: 500, allocations: 1 }),
  ],
  outOfMemoryCount: 7,
  outOfMemory: [
    {
      process: 0,
      device: 0,
      layer: 'tensor',
      requestedBytes: 9,
      timeNs: 2e9,
      site: 7,
      liveBytes: 1,
      thread: 0,
      freeBytes: null,
      snapshot: null,
    },
  ],
});
const row = { process: 0, thread: 0, layer: 'tensor' as const, site: 7, device: 0 };
const trace = new FakeTrace(
  info,
  [
    {
      ...row,
      address: 0x7f0000000000n,
      bytes: 200,
      timeNs: 4e9,
      extras: { askedBytes: 190, stream: 0x70n, pool: '0:3' },
    },
    { ...row, address: 0x1n, bytes: 100, timeNs: 9.5e9 },
  ],
  [site],
  450,
);

test('the document carries what the contract names', () => {
  const report = wholeReport(trace);
  assert.equal(report.version, 1);
  assert.deepEqual(report.command, ['python', 'train.py']);
  assert.equal(report.exitCode, 3);
  assert.equal(report.oomCount, 7);
  assert.equal(report.simulated, true);
  assert.equal(report.startedAt, '1970-01-01T00:00:00.000Z');
  assert.deepEqual(report.lost, { events: 0, byCause: {} });
  assert.deepEqual(report.steps, { count: 0, source: 'none', after: null, processes: [] });
  assert.deepEqual(
    report.findings.map(finding => [finding.verdict, finding.pid]),
    [['oom', 10]],
  );
  assertSentence(report.findings[0]?.title);
  const [process] = report.processes;
  assert.deepEqual([process?.pid, process?.exitCode, process?.threads], [10, 3, [{ tid: 10, name: 'python' }]]);
  assert.deepEqual(report.allocations, [
    {
      address: '0x7f0000000000',
      bytes: 200,
      device: 0,
      pid: 10,
      tid: 10,
      thread: 'python',
      layer: 'tensor',
      ageSeconds: 6,
      ageSteps: 0,
      name: '',
      category: 'unnamed',
      module: '',
      askedBytes: 190,
      stream: '0x70',
      pool: '0:3',
      site: 7,
    },
    {
      address: '0x1',
      bytes: 100,
      device: 0,
      pid: 10,
      tid: 10,
      thread: 'python',
      layer: 'tensor',
      ageSeconds: 0.5,
      ageSteps: 0,
      name: '',
      category: 'unnamed',
      module: '',
      askedBytes: null,
      stream: null,
      pool: null,
      site: 7,
    },
  ]);
  const [first] = report.sites;
  assert.deepEqual(
    [first?.id, first?.verdict, first?.liveBytes, first?.liveCount, first?.userFrame, first?.frames],
    [7, 'unknown', 300, 2, user, [inner, user]],
  );
  assert.deepEqual(
    report.totals.map(total => [
      total.pid,
      total.layer,
      total.liveBytes,
      total.peakBytes,
      total.allocations,
      total.frees,
    ]),
    [
      [10, 'tensor', 300, 400, 5, 3],
      [10, 'driver', 500, 500, 1, 0],
    ],
  );
  const [ledger] = report.ledger;
  assert.deepEqual(
    [ledger?.device, ledger?.tensorBytes, ledger?.reservedBytes, ledger?.driverBytes, ledger?.processBytes],
    [0, 300, 450, 500, null],
  );
  const [oom] = report.oom;
  assert.deepEqual([oom?.requestedBytes, oom?.pid, oom?.tid, oom?.timeSeconds, oom?.site], [9, 10, 10, 2, 7]);
});

test('it survives JSON, and groups come only when asked for', () => {
  const report = wholeReport(trace);
  assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
  assert.equal('groups' in report, false);
  const [group] = wholeReport(trace, 'thread').groups ?? [];
  assert.deepEqual([group?.groupBy, group?.label, group?.liveBytes], ['thread', 'group 7', 300]);
});

test('a trace without the launcher’s facts is reported all the same', () => {
  for (const session of [{}, { command: 'x', processes: 'y', startedRealtimeMs: 'z' }, { processes: [null, {}] }]) {
    const report = wholeReport(new FakeTrace({ ...info, session }));
    assert.deepEqual(report.command, ['python', 'train.py']);
    assert.equal(report.exitCode, null);
    assert.equal(report.simulated, false);
  }
});

test('threads are told apart by their index, whatever order the reader met them in', () => {
  const threads = [
    { index: 2, tid: 12, name: 'late' },
    { index: 0, tid: 10, name: 'python' },
    { index: 1, tid: 11, name: 'loader' },
  ];
  const met = makeInfo({ ...info, processes: [makeProcess({ pid: 10, threads })] });
  const rows = [2, 1, 0].map(thread => ({ ...row, thread, address: BigInt(thread), bytes: 200, timeNs: 4e9 }));
  const { allocations } = wholeReport(new FakeTrace(met, rows, [site], 450));
  assert.deepEqual(
    allocations.filter(({ layer }) => layer === 'tensor').map(({ tid, thread }) => [tid, thread]),
    [
      [12, 'late'],
      [11, 'loader'],
      [10, 'python'],
    ],
  );
});
