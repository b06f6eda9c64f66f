// Steps and what the agent said, as the addon answers them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import type { NativeAddon, NativeTrace } from '../../../extension/native/native';
import type { SiteSeries, SiteSeriesQuery } from '../../../extension/protocol/trace';
import { STEP_LOST_EVENTS, STEP_PAUSED } from '../../../extension/protocol/trace';
import { STREAM_UNKNOWN } from '../../../extension/protocol/streams';
import { kinds, LogFile } from './logFile';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertThrows } = sentencesOf(__filename);

const loaded = { exports: {} };
process.dlopen(loaded, resolve(process.env['GMT_ADDON'] ?? 'dist/native/gpu_memory_trace.node'));
const addon = loaded.exports as NativeAddon;

const folders: string[] = [];
after(() => folders.forEach(path => rmSync(path, { recursive: true })));

async function traceOf(write: (log: LogFile) => void): Promise<NativeTrace> {
  folders.push(mkdtempSync(join(tmpdir(), 'gmt-steps-')));
  const log = new LogFile(folders.at(-1)!);
  log.process(['python', 'train.py']);
  log.thread(0, 700, 'python');
  log.device(0, 'Simulated GPU', 8n << 30n);
  write(log);
  log.end();
  const trace = addon.open(folders.at(-1)!);
  await trace.settle();
  return trace;
}

const line = (number: number): { file: string; line: number; function: string } => {
  return { file: '/home/ada/train.py', line: number, function: 'main' };
};
const tensors: SiteSeriesQuery = { process: 0, layer: 'tensor', from: 0, to: 100, points: 256 };
const row = (series: SiteSeries, matrix: Float64Array, at = 0): number[] => {
  const width = series.first.length;
  return [...matrix.subarray(at * width, (at + 1) * width)];
};

/** Three steps: line 10 keeps 100 bytes of each, line 20 gives back what it took in the step before. */
function training(log: LogFile): void {
  const leak = log.stack([line(10)]);
  const cache = log.stack([line(20)]);
  const freeing = log.stack([line(30)]);
  for (let step = 1; step <= 3; step++) {
    log.event(kinds.tensorAlloc, 0x7f0000000000n + BigInt(step * 0x1000), 100, leak);
    log.event(kinds.tensorAlloc, 0x7f1000000000n + BigInt(step * 0x1000), 1000 * step, cache);
    if (step > 1) log.event(kinds.tensorFree, 0x7f1000000000n + BigInt((step - 1) * 0x1000), 0, freeing);
    if (step === 2) log.event(kinds.gcBegin, 2, 0);
    if (step === 2) log.event(kinds.gcEnd, 5, 0);
    log.event(kinds.step, step, 0);
  }
}

test('sites have series over steps', async () => {
  const trace = await traceOf(training);
  const [steps] = trace.info().steps;
  assert.deepEqual([steps!.process, steps!.source, steps!.count, steps!.touched], [0, 'optimizer', 3, 0]);
  const series = trace.siteSeries(tensors);
  assert.deepEqual([series.source, series.count, series.rows, series.total], ['optimizer', 3, 2, 2]);
  assert.deepEqual([...series.first], [1, 2, 3]);
  assert.deepEqual([...series.last], [1, 2, 3]);
  assert.deepEqual([...series.fullCollections], [0, 1, 0]);
  assert.ok(series.endNs[0]! < series.endNs[2]!);
  const [cache, leak] = [0, 1];
  assert.equal(trace.site(series.id[leak]!)!.frames[0]!.line, 10);
  assert.deepEqual(row(series, series.liveBytes, cache), [1000, 2000, 3000]);
  assert.deepEqual(row(series, series.maxBytes, cache), [1000, 3000, 5000]);
  assert.deepEqual(row(series, series.stepFreedBytes, cache), [0, 1000, 2000]);
  assert.deepEqual(row(series, series.stepLargestBytes, cache), [1000, 2000, 3000]);
  assert.deepEqual(row(series, series.survivorBytes, cache), [0, 0, 3000]);
  assert.deepEqual(row(series, series.liveBytes, leak), [100, 200, 300]);
  assert.deepEqual(row(series, series.survivorCount, leak), [1, 1, 1]);
  assert.deepEqual(row(series, series.oldFreedBytes, cache), [0, 0, 0]);
  assert.deepEqual([...series.lineSource], ['python', 'python']);

  const chosen = trace.siteSeries({ ...tensors, sites: [series.id[leak]!, 4711] });
  assert.deepEqual([...chosen.id], [series.id[leak]]);
  assert.equal(trace.siteSeries({ ...tensors, from: 1, to: 2 }).id[0], series.id[leak]);
  assert.equal(trace.siteSeries({ ...tensors, process: 9 }).rows, 0);
  assertThrows(() => trace.siteSeries({ ...tensors, sites: 'all' as never }));
  assertThrows(() => trace.siteSeries({ ...tensors, points: undefined as never }));

  const [freed] = trace.freeLines(series.id[cache]!);
  assert.deepEqual([freed!.count, freed!.lastStep, freed!.frames[0]!.line, freed!.userFrame], [2, 3, 30, 0]);
  assert.deepEqual(trace.freeLines(series.id[leak]!), []);
  assert.deepEqual(trace.freeLines(12345), []);
  trace.close();
});

test('the ledger has each layer at the end of each step', async () => {
  const trace = await traceOf(log => {
    log.event(kinds.deviceAlloc, 0x7f0000000000n, 2 << 20);
    log.event(kinds.reserved, 0, 2 << 20);
    log.event(kinds.tensorAlloc, 0x7f0000000000n, 4096);
    log.event(kinds.step, 1, 0);
    log.memory(0, 500n << 20n, 900n << 20n, 8n << 30n);
    log.event(kinds.deviceAlloc, 0x7f1000000000n, 1 << 20);
    log.event(kinds.tensorAlloc, 0x7f0000010000n, 512);
    log.allocator(0, 4608, 4608 + (1 << 20));
    log.event(kinds.step, 2, 0);
  });
  const ledger = trace.ledgerSeries({ process: 0, device: 0, points: 256 });
  assert.deepEqual([...ledger.tensorBytes], [4096, 4608]);
  assert.deepEqual([...ledger.reservedBytes], [2 << 20, 2 << 20]);
  assert.deepEqual([...ledger.driverBytes], [2 << 20, 3 << 20]);
  assert.deepEqual([...ledger.tracedBytes], [NaN, 2 << 20], 'when the account was read');
  assert.deepEqual([...ledger.processBytes], [NaN, 500 << 20]);
  assert.deepEqual([...ledger.usedBytes], [NaN, 900 << 20]);
  assert.deepEqual([...ledger.totalBytes], [NaN, 8 * 2 ** 30]);
  assert.deepEqual([...ledger.pendingBytes], [NaN, 1 << 20]);
  assert.equal(ledger.device, 0);
  const { segments, segmentBytes, freeBytes, largestFreeBytes, partlyUsedSegments, emptyBytes } = trace.fragmentation({
    process: 0,
    device: 0,
  });
  assert.deepEqual([segments, segmentBytes, partlyUsedSegments, emptyBytes], [1, 2 << 20, 1, 0]);
  assert.deepEqual([freeBytes, largestFreeBytes], [(2 << 20) - 4608, (2 << 20) - 0x10000 - 512]);
  trace.close();
});

test('of a block is told what was asked for it, its stream and its pool, where that is known', async () => {
  const trace = await traceOf(log => {
    for (let i = 1; i <= 4; i++) log.event(kinds.tensorAlloc, 0x7f0000000000n + BigInt(i * 0x1000), 512);
    log.block(0x7f0000001000n, 500, 0x5570n, [0, 3]);
    log.block(0x7f0000002000n, 0, 0n, [0, 0]);
    log.block(0x7f0000003000n, null, null, null);
    log.event(kinds.step, 1, 0);
  });
  const live = trace.allocations({ layer: 'tensor', sort: 'address', descending: false, from: 0, to: 10 });
  assert.deepEqual([...live.askedBytes], [500, 0, NaN, NaN]);
  assert.deepEqual([...live.stream], [0x5570n, 0n, STREAM_UNKNOWN, STREAM_UNKNOWN]);
  assert.deepEqual(live.pool, ['0:3', '0:0', '', '']);
});

test('blocks have ages, names and categories', async () => {
  const trace = await traceOf(log => {
    log.event(kinds.tensorAlloc, 0x7f0000001000n, 512);
    log.name(0x7f0000001000n, 1, 1, 'encoder.weight');
    log.event(kinds.step, 1, 0);
    log.event(kinds.step, 2, 0);
    log.event(kinds.tensorAlloc, 0x7f0000002000n, 256);
  });
  const live = trace.allocations({ layer: 'tensor', sort: 'bytes', descending: true, from: 0, to: 10 });
  assert.deepEqual([...live.step], [1, 3]);
  assert.deepEqual([...live.ageSteps], [2, 0]);
  assert.deepEqual(live.name, ['encoder.weight', '']);
  assert.deepEqual(live.category, ['parameter', 'unnamed']);
  assert.deepEqual(
    trace.info().categories.map(({ category, bytes, count }) => [category, bytes, count]),
    [
      ['parameter', 512, 1],
      ['unnamed', 256, 1],
    ],
  );
  assert.equal(trace.siteSeries(tensors).category[0], 'parameter');
  trace.close();
});

test('answers of the agent come with the blocks that they name', async () => {
  const trace = await traceOf(log => {
    log.event(kinds.tensorAlloc, 0x7f0000001000n, 512);
    log.event(kinds.step, 1, 0);
    log.answer(7, ['{"holders":[{"address":', `"0x7f0000001000"},{"address":${0x7f0000001000 + 1}}]}`]);
    log.event(kinds.tensorFree, 0x7f0000001000n, 0);
    log.event(kinds.step, 2, 0);
    log.answer(0, ['{}']);
    log.answer(0, ['{"again":true}']);
  });
  const answers = trace.info().answers;
  assert.deepEqual(
    answers.map(({ index, request, complete }) => [index, request, complete]),
    [
      [0, 7, true],
      [1, 0, true],
      [2, 0, true],
    ],
  );
  const answer = trace.answer({ process: 0, index: 0 })!;
  assert.equal((JSON.parse(answer.text) as { holders: object[] }).holders.length, 2);
  assert.equal(answer.blocks.length, 1);
  const [block] = answer.blocks;
  assert.deepEqual([block!.address, block!.alive, block!.bytes, block!.step], [0x7f0000001000n, true, 512, 1]);
  assert.equal(trace.answer({ process: 0, index: 2 })!.text, '{"again":true}');
  assert.equal(trace.answer({ process: 0, index: 3 }), null);
  assert.equal(trace.answer({ process: 5, index: 0 }), null);
  assert.equal(trace.blocks({ process: 0, addresses: [0x7f0000001000n] })[0]!.known, false);
  assertThrows(() => trace.blocks({ process: 0, addresses: [1] as never }));
  trace.close();
});

test('a failure keeps what memory looked like', async () => {
  const trace = await traceOf(log => {
    const stack = log.stack([line(40)]);
    for (let step = 1; step <= 3; step++) {
      log.event(kinds.tensorAlloc, 0x7f0000000000n + BigInt(step * 0x1000), 1000, stack);
      log.event(kinds.step, step, 0);
    }
    log.event(kinds.tensorAlloc, 0x7f0000009000n, 5000, stack);
    log.event(kinds.tensorOom, 0, 2 ** 30, stack);
  });
  const [oom] = trace.info().outOfMemory;
  const snapshot = oom!.snapshot!;
  assert.deepEqual([snapshot.step, snapshot.tensorBytes, snapshot.reservedBytes], [4, 8000, null]);
  assert.deepEqual(snapshot.categories, [{ category: 'unnamed', bytes: 8000, count: 4 }]);
  const [site] = snapshot.sites;
  assert.deepEqual(site, {
    site: oom!.site,
    liveBytes: 8000,
    liveCount: 4,
    oldestStep: 1,
    grownBytes: 5000,
    activationBytes: 0,
    stepAllocatedBytes: 5000,
    usualAllocatedBytes: 1000,
  });
  trace.close();
});

test('what was not recorded is told by step', async () => {
  const trace = await traceOf(log => {
    log.event(kinds.start, 0, 0);
    log.event(kinds.step, 1, 0);
    log.event(kinds.stop, 0, 0);
    log.event(kinds.start, 0, 0);
    log.event(kinds.step, 2, 0);
    log.skip(2);
    log.event(kinds.step, 3, 0);
    log.event(kinds.stop, 0, 0);
  });
  assert.deepEqual([...trace.siteSeries(tensors).flags], [0, STEP_PAUSED, STEP_LOST_EVENTS]);
  assert.equal(trace.info().steps[0]!.touched, 2);
  assert.deepEqual(
    trace.info().pauses.map(({ kind, endNs }) => [kind, endNs]),
    [
      ['recording', 3000],
      ['recording', null],
    ],
  );
  trace.close();
});
