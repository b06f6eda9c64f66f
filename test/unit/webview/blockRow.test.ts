import assert from 'node:assert/strict';
import { STREAM_UNKNOWN } from '../../../extension/protocol/streams';
import type { AllocationWindow } from '../../../extension/protocol/trace';
import {
  ageText,
  requestedText,
  blockAt,
  blockKey,
  kindText,
  poolText,
  sizeText,
  streamText,
} from '../../../webview/explorer/common/blockRow';
import { stackText } from '../../../webview/explorer/common/stack';
import { subjectOf } from '../../../webview/explorer/state/subject';
import type { Row } from '../../../webview/explorer/common/rows';
import { makeProcess } from '../fakeTrace';
import { threadText } from '../../../webview/explorer/common/threadNames';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const window: AllocationWindow = {
  revision: 1,
  total: 9,
  rows: 1,
  sumBytes: 0,
  address: BigUint64Array.of(0x7f0000001000n),
  bytes: Float64Array.of(20 * MB),
  device: Int32Array.of(0),
  process: Int32Array.of(0),
  thread: Uint32Array.of(0),
  layer: ['tensor'],
  site: Uint32Array.of(4),
  timeNs: Float64Array.of(2e9),
  stream: BigUint64Array.of(0n),
  askedBytes: Float64Array.of(20 * MB - 100),
  pool: ['0:0'],
  kind: Uint8Array.of(1),
  step: Float64Array.of(12),
  ageSteps: Float64Array.of(3),
  name: ['fc.weight'],
  category: ['parameter'],
  module: [''],
};
const block = blockAt(window, 0)!;

test('a block is read from its window; outside there is none', () => {
  assert.deepEqual([block.address, block.bytes, block.name], ['0x7f0000001000', 20 * MB, 'fc.weight']);
  assert.equal(blockAt(window, 1), null);
  assert.equal(blockAt(window, -1), null);
});

test('an address that is handed out again is another block', () => {
  assert.notEqual(blockKey(block), blockKey({ ...block, timeNs: 3e9 }));
});

test('a tensor’s size is what the allocator rounded to; the driver is asked for exact bytes', () => {
  assertSentence(sizeText(block));
  assertSentence(sizeText({ bytes: 512, layer: 'driver' }));
});

test('what was asked for, the stream and the pool, or that nobody recorded them', () => {
  assert.deepEqual([requestedText(block), poolText(block)], ['20 MiB (20,971,420 bytes)', 'default pool']);
  assertSentence(poolText({ ...block, pool: '0:3' }));
  const unknown = { askedBytes: Float64Array.of(NaN), pool: [''], stream: BigUint64Array.of(STREAM_UNKNOWN) };
  const silent = blockAt({ ...window, ...unknown }, 0)!;
  assert.deepEqual(
    [requestedText(silent), poolText(silent), streamText(silent.stream)],
    ['not recorded', 'not recorded', 'not recorded'],
  );
  assert.deepEqual([requestedText({ ...silent, layer: 'driver' }), poolText({ ...silent, layer: 'driver' })], ['', '']);
});

test('age is in steps and time', () => {
  assert.equal(ageText(block, 6.2e9), 'step 12, 3 steps and 4.20 s ago');
  assert.equal(ageText({ ...block, ageSteps: 0 }, 2.5e9), 'this step, 500.0 ms ago');
});

test('streams, kinds and threads have names', () => {
  assert.deepEqual([streamText(0n), streamText(0x55d0n)], ['default stream', 'stream 0x55d0']);
  assertSentence(streamText(2n));
  assert.deepEqual([kindText(18), kindText(99)], ['stream-ordered pool (cuMemAllocAsync)', 'kind 99']);
  const one = makeProcess({});
  const { process, thread } = block;
  assert.equal(threadText([one], process, thread), 'main thread');
  assert.equal(threadText([{ ...one, pid: 1 }], process, thread), 'python:2166793');
  assertSentence(threadText([one, makeProcess({ index: 1 })], process, thread));
  assert.equal(threadText([one], process, 7), 'thread 7');
  assert.equal(threadText([one], process, -1), 'several threads');
});

test('a stack is copied as Python prints one', () => {
  const frames = [
    { file: '/a/model.py', line: 7, function: 'forward' },
    { file: '/a/train.py', line: 3, function: 'main' },
  ];
  assert.equal(stackText(frames), '  File "/a/train.py", line 3, in main\n  File "/a/model.py", line 7, in forward');
});

test('a thread lists all its blocks, a line those of its biggest stack', () => {
  const row = { key: 'k', id: 5, liveCount: 3, thread: 'x', indices: { process: 0, thread: 2, device: 1 } } as Row;
  assert.deepEqual(subjectOf(row, { groupBy: 'thread', device: -1 }, 'tensor').blocks, {
    layer: 'tensor',
    process: 0,
    thread: 2,
  });
  assert.deepEqual(subjectOf(row, { groupBy: 'device', device: -1 }, 'driver').blocks, { layer: 'driver', device: 1 });
  assert.deepEqual(subjectOf(row, { groupBy: 'line', device: -1 }, 'tensor').blocks, { layer: 'tensor', site: 5 });
  assert.deepEqual(subjectOf(row, { groupBy: 'line', device: 0 }, 'tensor').blocks, {
    layer: 'tensor',
    device: 0,
    site: 5,
  });
});
