// `gpu-memtrace fit` on two recordings of a graph network on an H200 (torch 2.12, AdamW), with batches 10 and 20, and on one of a GPT with
// batch 8. What PyTorch said of the same programs with batch 40, and with gradients of two parts, SGD with momentum, FSDP2 on two GPUs and so on, is `REAL` and `REAL_GPT`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { FitAnswer } from '../../../extension/cli/fitCommand';
import { DRIVER_SCRIPT, Place, python, root, workload, type Ended } from '../launcher';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

/** `torch.cuda.max_memory_reserved()` and `max_memory_allocated()` with batch 40. */
const REAL = { reservedBytes: 1_279_262_720, allocatedBytes: 1_083_476_480 };
const REAL_GPT = {
  ...{ twoParts: 4458 * 2 ** 20, momentum: 5706 * 2 ** 20, twoRanks: 6072 * 2 ** 20, oneByOne: 6490 * 2 ** 20 },
  ...{ tensors: 5044 * 2 ** 20, halfTensors: 3150 * 2 ** 20 },
};
const TWO = ['batch10.gputrace', 'batch20.gputrace', '--batch'];

function stored(place: Place): Place {
  for (const [name, of] of [
    ['batch10', 'graphnet10'],
    ['batch20', 'graphnet20'],
    ['gpt', 'gpt8'],
  ] as const) {
    const packed = readFileSync(join(root, `test/golden/fit/${of}.gputrace.gz`));
    writeFileSync(place.path(`${name}.gputrace`), gunzipSync(packed));
  }
  return place;
}

async function fits(place: Place, ...words: string[]): Promise<Ended & { answer: FitAnswer }> {
  const ended = await place.run(['fit', ...words, '--format', 'json']);
  assert.equal(ended.stderr, '');
  return { ...ended, answer: JSON.parse(ended.stdout) as FitAnswer };
}

/** A share of what is right. */
const off = (found: number, right: number): number => Math.abs(found / right - 1);

test('a replay of a recorded run reserves what was recorded, after each allocation', async t => {
  const place = stored(new Place(t));
  for (const [batch, reserved] of [
    [10, 387_973_120],
    [20, 666_894_336],
  ] as const) {
    const { status, answer } = await fits(place, `batch${batch}.gputrace`);
    assert.equal(status, 0);
    const { allocations, equal, peakBytes, recordedPeakBytes } = answer.replay;
    assert.deepEqual([equal, peakBytes, recordedPeakBytes], [allocations, reserved, reserved]);
    assert.ok(allocations > 900);
    assert.equal(answer.changes[0]?.reservedBytes, reserved);
  }
});

test('two runs forecast a third within 3 % of what PyTorch had', async t => {
  const place = stored(new Place(t));
  const { status, answer } = await fits(place, ...TWO, '10,20:40');
  assert.equal(status, 0);
  assert.ok(answer.requested && answer.twoRuns && answer.batch === 20);
  assert.equal(answer.requested.factor, 2);
  assert.ok(off(answer.requested.reservedBytes, REAL.reservedBytes) < 0.03, String(answer.requested.reservedBytes));
  assert.ok(off(answer.requested.allocatedBytes, REAL.allocatedBytes) < 0.03, String(answer.requested.allocatedBytes));
  const swapped = await fits(place, 'batch20.gputrace', 'batch10.gputrace', '--batch', '20,10:40');
  assert.deepEqual(swapped.answer.requested, answer.requested);
  const one = (await fits(place, 'batch20.gputrace', '--batch', '20:40')).answer;
  assert.ok(off(one.requested?.allocatedBytes ?? 0, REAL.allocatedBytes) < 0.1, String(one.requested?.allocatedBytes));
});

test('the largest batch fits, and the next does not; then the exit status is 3', async t => {
  const place = stored(new Place(t));
  const { answer } = await fits(place, ...TWO, '10,20', '--gpu', '2GiB');
  const largest = Math.round((answer.changes[0]?.largestFactor ?? 0) * 20);
  assert.ok(largest > 40 && largest < 100, String(largest));
  const found = await Promise.all(
    [largest, largest + 1].map(batch => fits(place, ...TWO, `10,20:${batch}`, '--gpu', '2GiB')),
  );
  assert.deepEqual(
    found.map(({ status, answer: { requested } }) => [status, requested?.fits]),
    [
      [0, true],
      [3, false],
    ],
  );
  assert.ok((found[1]?.answer.requested?.totalBytes ?? 0) > 2 ** 31);
});

test('checkpoints and settings of the allocator change what is reserved', async t => {
  const place = stored(new Place(t));
  const words = ['batch20.gputrace', '--batch', '20:80', '--checkpoint', '*'];
  const { answer } = await fits(place, ...words, '--allocator', 'expandable_segments:True');
  const { requested, changes } = answer;
  assert.ok(requested);
  assert.deepEqual([requested.allocator, requested.modules, changes.length], ['expandable_segments:True', 4, 6]);
  const plain = (await fits(place, 'batch20.gputrace', '--batch', '20:80')).answer.requested;
  assert.ok(requested.reservedBytes < (plain?.reservedBytes ?? 0));
  assert.equal(requested.largestFactor, changes[3]?.largestFactor, 'the same change, whatever the batch');
});

test('accumulated gradients and another optimizer take what PyTorch had then', async t => {
  const place = stored(new Place(t));
  const parts = (await fits(place, 'gpt.gputrace', '--batch', '8', '--accumulate', '2')).answer.requested;
  assert.ok(off(parts?.reservedBytes ?? 0, REAL_GPT.twoParts) < 0.02, String(parts?.reservedBytes));
  const optimizer = (await fits(place, 'gpt.gputrace', '--optimizer-states', '50%')).answer.requested;
  assert.ok(off(optimizer?.reservedBytes ?? 0, REAL_GPT.momentum) < 0.005, String(optimizer?.reservedBytes));
  const whole = (await fits(place, 'gpt.gputrace', '--batch', '8:32', '--accumulate', '4', '--gpu', '8GiB')).answer;
  const [largest, once] = [whole.requested, whole.changes[0]].map(way => Math.round((way?.largestFactor ?? 0) * 8));
  assert.ok(
    largest !== undefined && once !== undefined && largest > 3 * once && largest % 4 === 0,
    `${largest} ${once}`,
  );
});

test('one of two ranks of FSDP takes what it took; other ways to train take less', async t => {
  const place = stored(new Place(t));
  const change = async (...words: string[]): Promise<FitAnswer['requested']> =>
    (await fits(place, 'gpt.gputrace', ...words)).answer.requested;
  const ranks = await change('--fsdp', '2');
  assert.ok(off(ranks?.reservedBytes ?? 0, REAL_GPT.twoRanks) < 0.01, String(ranks?.reservedBytes));
  assert.equal((await change('--no-foreach'))?.reservedBytes, REAL_GPT.oneByOne);
  const [half, all, second] = [
    await change('--bf16-parameters'),
    await change('--checkpoint', 'layers.*'),
    await change('--checkpoint', 'layers.*:2'),
  ].map(answer => answer?.allocatedBytes ?? 0);
  assert.ok(half !== undefined && half > REAL_GPT.halfTensors && half < REAL_GPT.tensors);
  assert.ok(all !== undefined && second !== undefined && all < second && second < REAL_GPT.tensors);
});

test('the table, by one run and by two', async t => {
  const place = stored(new Place(t));
  for (const words of [
    ['batch20.gputrace'],
    ['batch20.gputrace', '--batch', '20:400', '--gpu', '8GiB'],
    [...TWO, '10,20:40'],
  ]) {
    const { status, stdout, stderr } = await place.run(['fit', ...words]);
    assert.deepEqual([status, stderr], [words.includes('--gpu') ? 3 : 0, '']);
    assertSentence(stdout);
  }
  const { stdout } = await place.run(['fit', 'gpt.gputrace', '--batch', '8:44', '--gpu', '24GiB']);
  assert.match(stdout, /\nbatch 44 .* 27\.98 GiB {2}yes, cache freed /);
});

test('what cannot be answered has one sentence and its exit status', async t => {
  const place = stored(new Place(t));
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(4096)\n`);
  await place.trace([python, script]);
  execFileSync(python, [workload('snapshots/memory_snapshot'), place.path('x.pickle')]);
  const blocks = gunzipSync(readFileSync(join(root, 'test/golden/snapshots/d7_2041_blocks.pickle.gz')));
  writeFileSync(place.path('blocks.pickle'), blocks);
  const wrong: [number, ...string[]][] = [
    [1, 'blocks.pickle', '--gpu', '80GiB'],
    [1, 't.gputrace'],
    [1, 'x.pickle'],
    [1, 'none.gputrace'],
    [1, 'batch20.gputrace', '--allocator', 'backend:cudaMallocAsync'],
    [1, 'batch20.gputrace', '--checkpoint', 'layers.*'],
    [2],
    [2, 'batch10.gputrace', 'batch20.gputrace'],
    [2, 'batch10.gputrace', 'batch20.gputrace', '--batch', '10'],
    [2, 'batch10.gputrace', '--batch', '10,20'],
    [2, 'batch10.gputrace', '--batch', '0'],
    [2, 'batch10.gputrace', '--batch', '10,10'],
    [1, 'batch20.gputrace', '--free', 'train.py:99'],
    [1, 'batch20.gputrace', '--set-to-none'],
    [2, 'batch10.gputrace', '--free', 'train.py'],
    [2, 'batch10.gputrace', '--fsdp', '1'],
    [2, 'batch10.gputrace', '--accumulate', '1'],
    [2, 'batch10.gputrace', '--optimizer-states', 'half'],
    [2, 'batch10.gputrace', '--gpu', 'big'],
    [2, 'batch10.gputrace', '--format', 'csv'],
  ];
  for (const [expected, ...words] of wrong) {
    const { status, stdout, stderr } = await place.run(['fit', ...words]);
    assert.deepEqual([status, stdout], [expected, ''], `${words.join(' ')}: ${stderr}`);
    assert.match(stderr, /^gpu-memtrace: [^\n]+\n$/, words.join(' '));
    assertSentence(stderr);
  }
});
