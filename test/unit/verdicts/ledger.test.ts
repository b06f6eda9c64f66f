// Layers of a device that grow by themselves, in words and numbers.
import assert from 'node:assert/strict';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { Verdicts } from '../../../extension/protocol/verdicts';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;

function judged(
  ledger: NonNullable<RunFacts['ledger']>,
  facts: RunFacts = {},
  steps = 80,
  source: StepRun['source'] = 'optimizer',
): Verdicts {
  const run = new StepRun();
  run.source = source;
  for (let step = 1; step <= steps; step++) {
    run.pass(1, MB);
    run.endStep();
  }
  return judgeTrace(new RunTrace(run, { ledger, ...facts }));
}
const room = { segments: 40, segmentBytes: 900 * MB, partlyUsedSegments: 31, emptyBytes: 0, freeBytes: 500 * MB };

test('the layers lie in each other, each with its slope a step', () => {
  const { ledger } = judged({
    tensor: step => 100 * MB + step * MB,
    reserved: step => 200 * MB + step * 2 * MB,
    driver: () => 300 * MB,
    process: () => 700 * MB,
    used: () => 900 * MB,
  });
  const [first] = ledger;
  assert.deepEqual(
    [first?.tensor, first?.reserved],
    [
      { bytes: 180 * MB, bytesPerStep: MB },
      { bytes: 360 * MB, bytesPerStep: 2 * MB },
    ],
  );
  assert.deepEqual([first?.remainderBytes, first?.usedBytes], [400 * MB, 900 * MB]);
});

test('what is not known stays unknown, and six steps are the least for a slope', () => {
  const [first] = judged({ tensor: step => step }, {}, 5).ledger;
  assert.deepEqual([first?.tensor.bytesPerStep, first?.processBytes.bytes, first?.remainderBytes], [null, null, null]);
});

test('the cache grows, the tensors’ peak does not: fragmentation', () => {
  const { findings, ledger } = judged(
    { tensor: () => 400 * MB, tensorMax: () => 600 * MB, reserved: step => (700 + 5 * step) * MB },
    { fragmentation: { ...room, largestFreeBytes: 3 * MB } },
  );
  assert.deepEqual([findings.length, findings[0]?.verdict, ledger[0]?.grows], [1, 'fragmentation', 'reserved']);
  assertSentence(findings[0]?.title);
  assert.match(findings[0]?.suggestion ?? '', /expandable_segments/);
});

test('beside a leak of tensors the cache grows faster than they do, by what the leak does not take', () => {
  const run = new StepRun();
  for (let step = 1; step <= 40; step++) {
    run.alloc(1, 40 * MB);
    run.pass(2, 8 * MB);
    run.endStep();
  }
  const tensor = (step: number): number => (400 + 40 * step) * MB;
  const ledger = { tensor, tensorMax: tensor, reserved: (step: number) => (700 + 120 * step) * MB };
  const facts = { totalBytes: 80_000 * MB, ledger, fragmentation: { ...room, largestFreeBytes: 3 * MB } };
  const { findings } = judgeTrace(new RunTrace(run, facts));
  assert.deepEqual(
    findings.map(({ verdict, bytesPerStep }) => [verdict, Math.round(bytesPerStep / MB)]),
    [
      ['leak', 40],
      ['fragmentation', 80],
    ],
  );
  assertSentence(findings[1]?.title);
  assert.deepEqual(findings[1]?.ruledOut, []);
});

test('what captured graphs keep is advised against by name, not by expandable segments', () => {
  const graph = {
    process: 0,
    device: 0,
    kind: 'graph' as const,
    makers: 11,
    id: '0:1',
    label: 'graphs[...]',
    segments: 4,
    site: 1,
  };
  const pools = [{ ...graph, reservedBytes: 300 * MB, liveBytes: 20 * MB }];
  const { findings } = judged(
    { tensor: () => 400 * MB, tensorMax: () => 600 * MB, reserved: step => (700 + 5 * step) * MB },
    { fragmentation: { ...room, largestFreeBytes: 3 * MB }, pools },
  );
  assertSentence(findings[0]?.suggestion ?? '');
  assert.doesNotMatch(findings[0]?.suggestion ?? '', /expandable_segments/);
});

test('memory of captured graphs in a set-up is named by the biggest of them, who has it and the line that allocated it', () => {
  const pool = (number: number, reservedBytes: number) => ({
    process: 0,
    device: 0,
    kind: 'graph' as const,
    makers: 15,
    id: `0:${number}`,
    label: `pool 0:${number} (captured graph: graphs[...])`,
    segments: 1,
    site: 1,
    reservedBytes,
    liveBytes: 20 * MB,
  });
  for (const pools of [[pool(1, 300 * MB)], [pool(1, 200 * MB), pool(2, 300 * MB)]]) {
    const { findings } = judged(
      { tensor: () => 400 * MB, tensorMax: () => 600 * MB, reserved: step => (700 + 5 * step) * MB },
      { fragmentation: { ...room, largestFreeBytes: 3 * MB }, pools },
      30,
      'periodic',
    );
    assertSentence(findings[0]?.title);
    assert.ok(findings[0]?.place);
  }
});

test('the cache grows although it has a gap as long as what it takes: pending on a stream, or another pool', () => {
  const { findings } = judged(
    { tensor: () => 400 * MB, reserved: step => (700 + 5 * step) * MB },
    { fragmentation: { ...room, largestFreeBytes: 64 * MB } },
  );
  assert.equal(findings[0]?.verdict, 'pending');
  assert.match(findings[0]?.suggestion ?? '', /record_stream/);
});

test('two segments of 64 MB a step fit the gap of 64 MB that is left by another pool: pending', () => {
  const verdict = (segment: number): string | undefined => {
    const run = new StepRun();
    run.site(1, { layer: 'driver', segments: true });
    run.site(2, {});
    for (let step = 1; step <= 40; step++) {
      for (let taken = 0; taken < 128 * MB; taken += segment) run.alloc(1, segment);
      run.pass(2, 8 * MB);
      run.endStep();
    }
    const ledger = {
      tensor: () => 400 * MB,
      tensorMax: () => 600 * MB,
      reserved: (step: number) => (700 + 128 * step) * MB,
    };
    const facts = { totalBytes: 80_000 * MB, ledger, fragmentation: { ...room, largestFreeBytes: 64 * MB } };
    return judgeTrace(new RunTrace(run, facts)).findings[0]?.verdict;
  };
  assert.deepEqual([verdict(64 * MB), verdict(128 * MB)], ['pending', 'fragmentation']);
});

const much = { tensor: () => 400 * MB, reserved: () => 1000 * MB };

test('a third of the cache waits for a stream, step after step: pending, with the advice', () => {
  const { findings, ledger } = judged({ ...much, pending: step => (step > 20 ? 340 * MB + (step % 7) * MB : 0) });
  assert.deepEqual([findings.length, findings[0]?.verdict, findings[0]?.sinceStep], [1, 'pending', 21]);
  assertSentence(findings[0]?.title);
  assertSentence(findings[0]?.evidence[0]);
  assert.match(findings[0]?.suggestion ?? '', /TORCH_NCCL_AVOID_RECORD_STREAMS=1/);
  assertSentence(findings[0]?.ruledOut[0]);
  assert.equal(ledger[0]?.pending.bytes, 343 * MB);
});

test('it is asked only now and then: the steps without a word are no steps without it', () => {
  const { findings } = judged({ ...much, pending: step => (step % 9 === 0 ? 300 * MB : NaN) });
  assert.deepEqual([findings.length, findings[0]?.verdict, findings[0]?.sinceStep], [1, 'pending', 9]);
});

test('a share of the cache that is usual, a few slow steps, too few readings: nothing', () => {
  const verdicts = (pending: (step: number) => number): number => judged({ ...much, pending }).findings.length;
  assert.equal(
    verdicts(() => 150 * MB),
    0,
  );
  assert.equal(
    verdicts(step => (step > 75 ? 500 * MB : 0)),
    0,
  );
  assert.equal(
    verdicts(step => (step % 2 === 0 ? 500 * MB : 0)),
    0,
  );
  assert.equal(
    verdicts(step => (step < 60 ? 500 * MB : 0)),
    0,
  );
  assert.equal(
    verdicts(step => (step > 60 && step % 5 === 0 ? 500 * MB : NaN)),
    0,
  );
  const small = { tensor: () => 2 * MB, reserved: () => 40 * MB };
  assert.equal(judged({ ...small, pending: () => 20 * MB }).findings.length, 0);
});

test('one reading of ten that finds nothing does not end it', () => {
  const { findings } = judged({ ...much, pending: step => (step % 10 === 0 ? 0 : 400 * MB) });
  assert.deepEqual([findings.length, findings[0]?.sinceStep], [1, 1]);
});

test('what waits grows, and the cache with it: one finding, though it is no fifth of the cache yet', () => {
  const { findings } = judged(
    { tensor: () => 400 * MB, reserved: step => (700 + 5 * step) * MB, pending: step => step * MB },
    { fragmentation: { ...room, largestFreeBytes: 64 * MB } },
  );
  assert.deepEqual([findings.length, findings[0]?.verdict], [1, 'pending']);
  assertSentence(findings[0]?.title);
  assertSentence(findings[0]?.evidence.at(-1));
});

test('what waits grows, and is read often at first and seldom later', () => {
  const { findings } = judged(
    {
      tensor: () => 400 * MB,
      reserved: step => (700 + 5 * step) * MB,
      pending: step => (step <= 32 || step % 6 === 0 ? step * MB : NaN),
    },
    { fragmentation: { ...room, largestFreeBytes: 64 * MB } },
  );
  assert.deepEqual(
    findings.map(({ verdict, bytesPerStep }) => [verdict, bytesPerStep]),
    [['pending', MB]],
  );
});

test('what waits grows by blocks that come and go; a queue that fills more and more slowly does not', () => {
  const titles = (pending: (step: number) => number): string[] =>
    judged({ tensor: () => 400 * MB, reserved: () => 4000 * MB, pending }).findings.map(({ title }) => title);
  const noise = (step: number): number => 64 * MB * ((step * 7) % 5 < 2 ? 1 : 0);
  const rising = titles(step => 64 * MB * Math.floor(step / 6) + 2 * noise(step));
  assert.equal(rising.length, 1);
  assertSentence(rising[0]);
  assert.deepEqual(
    titles(step => 64 * MB * Math.floor(8 * (1 - Math.exp(-step / 12))) + noise(step)),
    [],
  );
  const filling = judged({
    tensor: () => 400 * MB,
    reserved: () => 40_000 * MB,
    pending: step => 64 * MB * (Math.floor(30 * (1 - Math.exp((-3 * step) / 80))) + ((step * 7) % 3)),
  });
  assert.deepEqual(filling.findings, []);
});

test('fragmentation where PyTorch says that nothing waits', () => {
  const { findings } = judged(
    { tensor: () => 400 * MB, tensorMax: () => 600 * MB, reserved: step => (700 + 5 * step) * MB, pending: () => MB },
    { fragmentation: { ...room, largestFreeBytes: 3 * MB } },
  );
  assert.deepEqual([findings.length, findings[0]?.verdict], [1, 'fragmentation']);
  assertSentence(findings[0]?.ruledOut[1]);
});

test('a cache that grows with its tensors, that stops, or that grows by little is nothing', () => {
  const reserved = (value: (step: number) => number, tensor = (_: number): number => 400 * MB): string[] =>
    judged({ tensor, reserved: value }).findings.map(finding => finding.verdict);
  assert.deepEqual(
    reserved(
      step => (700 + 5 * step) * MB,
      step => (400 + 5 * step) * MB,
    ),
    [],
  );
  assert.deepEqual(
    reserved(step => (700 + 5 * Math.min(step, 40)) * MB),
    [],
  );
  assert.deepEqual(
    reserved(step => 700 * MB + step * 1024),
    [],
  );
});

test('the process grows beyond what the driver’s calls took: untraced', () => {
  const { findings, ledger } = judged({
    tensor: () => 400 * MB,
    reserved: () => 500 * MB,
    driver: () => 600 * MB,
    process: step => (1000 + 4 * step) * MB,
  });
  assert.deepEqual([findings[0]?.verdict, ledger[0]?.grows], ['untraced', 'process']);
});
