// What is told of a trace in numbers: by process, GPU and line; and of what nobody knows, nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFinding } from '../../../extension/analysis/findings/kinds/wording';
import { readMetrics } from '../../../extension/report/documents/readMetrics';
import type { Attributes } from '../../../extension/protocol/metrics';
import { JOB } from '../../../extension/protocol/notes';
import type { TraceInfo } from '../../../extension/protocol/trace';
import type { Finding, Ledger, Verdicts } from '../../../extension/protocol/verdicts';
import { FakeTrace, makeInfo, makeProcess, makeTotals } from '../fakeTrace';

const layer = { bytes: null, bytesPerStep: null };
const ledger = (part: Partial<Ledger>): Ledger => ({
  ...{ process: 0, device: 0, tensor: layer, pending: layer, reserved: layer, driver: layer, libraries: [] },
  ...{ processBytes: layer, usedBytes: null, totalBytes: null, remainderBytes: null, grows: null },
  ...part,
});
const leak = (line: number, bytesPerStep: number, part: Partial<Finding> = {}): Finding =>
  makeFinding({
    ...{ id: `${line}`, verdict: 'leak', headline: '', process: 0, suggestion: '', bytesPerStep, confidence: 1 },
    place: { site: 1, file: 'train.py', line, function: 'step', bytesPerStep },
    ...part,
  });
const rank = (index: number, notes: string): TraceInfo['processes'][number] =>
  makeProcess({ index, pid: 10 + index, notes: [{ code: JOB, text: `host=node1\nRANK=${index}\n${notes}` }] });

/** Values of a metric by their attributes, as text. */
function points(
  info: Partial<TraceInfo>,
  name: string,
  judged: Partial<Verdicts> = {},
  reserved = null as number[] | null,
) {
  const verdicts: Verdicts = {
    ...{
      revision: 1,
      steps: { count: 0, source: 'none' },
      after: null,
      unjudged: [],
      sites: new Map(),
      findings: [],
      ledger: [],
    },
    ...{ outOfMemory: [], ...judged },
  };
  const metrics = readMetrics(new FakeTrace(makeInfo(info), [], [], reserved), verdicts);
  const words = (attributes: Attributes): string =>
    Object.entries(attributes)
      .map(pair => pair.join('='))
      .join(' ');
  const metric = metrics.find(one => one.name === name);
  return metric?.points.map(({ value, attributes }) => [words(attributes), value]) ?? null;
}

test('each rank tells what it has, under its numbers', () => {
  const info = {
    processes: [rank(0, 'WORLD_SIZE=2\nLOCAL_RANK=0\ngpu0=GPU-a'), rank(1, 'WORLD_SIZE=2\nLOCAL_RANK=1\ngpu0=GPU-b')],
    totals: [makeTotals({ liveBytes: 5, peakBytes: 9 }), makeTotals({ process: 1, liveBytes: 7, peakBytes: 8 })],
  };
  const attributes = (index: number, gpu: string): string =>
    `host.name=node1 rank=${index} local_rank=${index} world_size=2 process.pid=${10 + index} device=0 hw.id=${gpu}`;
  assert.deepEqual(points(info, 'gpu_memtrace.tensor.live'), [
    [attributes(0, 'GPU-a'), 5],
    [attributes(1, 'GPU-b'), 7],
  ]);
  assert.deepEqual(points(info, 'gpu_memtrace.tensor.peak')?.[0], [attributes(0, 'GPU-a'), 9]);
  assert.deepEqual(points(info, 'gpu_memtrace.reserved', {}, [11, 12]), [
    [attributes(0, 'GPU-a'), 11],
    [attributes(1, 'GPU-b'), 12],
  ]);
  assert.equal(points(info, 'gpu_memtrace.reserved'), null);
});

test('what is of no device has none, and a simulated one is named so', () => {
  const info = {
    processes: [makeProcess({ pid: 1, simulated: true })],
    totals: [makeTotals({ layer: 'host', device: -1, liveBytes: 3 })],
  };
  assert.deepEqual(points(info, 'gpu_memtrace.host.live'), [['process.pid=1 simulated=true', 3]]);
});

test('a GPU is told once, by its UUID, whoever uses it; without one it is not told', () => {
  const info = {
    session: { processes: [{ pid: 4, exitCode: null }] },
    processes: [rank(0, 'gpu0=GPU-a\ngpu1=GPU-b'), rank(1, 'gpu0=GPU-b')],
    devices: [
      { index: 0, name: 'H100', totalBytes: 80 },
      { index: 1, name: 'H100', totalBytes: 0 },
      { index: 2, name: 'H100', totalBytes: 80 },
    ],
    totals: [0, 1, 2].map(device => makeTotals({ device })).concat(makeTotals({ process: 1 })),
  };
  const judged = {
    ledger: [ledger({ usedBytes: 60 }), ledger({ device: 1, usedBytes: 70 }), ledger({ process: 1, totalBytes: 90 })],
  };
  const attributes = 'host.name=node1 process.pid=4';
  const card = (id: string): string => `${attributes} hw.id=${id} hw.name=H100 hw.type=gpu`;
  assert.deepEqual(points(info, 'hw.gpu.memory.usage', judged), [
    [card('GPU-a'), 60],
    [card('GPU-b'), 70],
  ]);
  assert.deepEqual(points(info, 'hw.gpu.memory.limit', judged), [
    [card('GPU-a'), 80],
    [card('GPU-b'), 90],
  ]);
});

test('of a process that is not recorded now, nobody knows what it has', () => {
  const info = {
    processes: [makeProcess({ recording: false })],
    totals: [makeTotals({ liveBytes: 5 })],
    categories: [{ process: 0, device: 0, category: 'parameter' as const, bytes: 5, count: 1 }],
  };
  const judged = { ledger: [ledger({ libraries: [{ path: '/x.so', name: 'x.so', bytes: 1, bytesPerStep: null }] })] };
  for (const name of ['tensor.live', 'tensor.peak', 'category', 'outside'])
    assert.equal(points(info, `gpu_memtrace.${name}`, judged), null, name);
  assert.equal(points(info, 'gpu_memtrace.running', judged)?.[0]?.[1], 1);
});

test('purposes and libraries are told apart; two libraries of one name are one', () => {
  const library = (path: string, bytes: number) => ({ path, name: 'NCCL (libnccl.so.2)', bytes, bytesPerStep: null });
  const info = {
    processes: [makeProcess({ pid: 1 })],
    categories: [{ process: 0, device: 0, category: 'parameter' as const, bytes: 5, count: 1 }],
  };
  const judged = { ledger: [ledger({ libraries: [library('/a/libnccl.so.2', 3), library('/b/libnccl.so.2', 4)] })] };
  assert.deepEqual(points(info, 'gpu_memtrace.category'), [['process.pid=1 device=0 category=parameter', 5]]);
  assert.deepEqual(points(info, 'gpu_memtrace.outside', judged), [
    ['process.pid=1 device=0 library=NCCL (libnccl.so.2)', 7],
  ]);
});

test('the five lines that leak most are told, each once, and none that may be no leak', () => {
  const info = { processes: [makeProcess({ pid: 1 })] };
  const findings = [1, 2, 3, 4, 5, 6].map(line => leak(line, line));
  findings.push(leak(6, 2), leak(7, 100, { verdict: 'rising' }), leak(8, 100, { confidence: 0.4 }));
  findings.push(leak(9, 50, { place: null, layer: 'driver', library: 'x.so' }));
  const rates = points(info, 'gpu_memtrace.leak.bytes_per_step', { findings });
  assert.deepEqual(rates, [
    ...[3, 4, 5, 6].map(line => [`process.pid=1 layer=tensor file=train.py line=${line}`, line]),
    ['process.pid=1 layer=driver library=x.so', 50],
  ]);
});

test('failures and losses are counted from nothing on, by cause where there are any; slices of time are no steps', () => {
  const steps = { count: 8, lastEndNs: 0, sure: true, alone: false, parts: false, idleNs: 0, poolsNs: 0, touched: 0 };
  const info = {
    processes: [makeProcess({ pid: 1 }), makeProcess({ index: 1, pid: 2, ended: true })],
    lost: { events: 2, byCause: { 'disk full': 2, stacks: 3 } },
    steps: [
      { process: 0, source: 'optimizer' as const, ...steps },
      { process: 1, source: 'time' as const, ...steps },
    ],
  };
  assert.deepEqual(points(info, 'gpu_memtrace.oom.count'), [['process.pid=1', 0]]);
  assert.deepEqual(points(info, 'gpu_memtrace.lost.events'), [['process.pid=1', 2]]);
  assert.deepEqual(points(info, 'gpu_memtrace.lost'), [
    ['process.pid=1 cause=disk full', 2],
    ['process.pid=1 cause=stacks', 3],
  ]);
  assert.deepEqual(points(info, 'gpu_memtrace.steps'), [['process.pid=1', 8]]);
  assert.deepEqual(points(info, 'gpu_memtrace.running'), [
    ['process.pid=1', 1],
    ['process.pid=2', 0],
  ]);
  assert.equal(points({}, 'gpu_memtrace.oom.count'), null);
});
