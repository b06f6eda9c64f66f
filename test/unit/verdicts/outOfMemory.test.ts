// Why memory ran out, in words and numbers.
import assert from 'node:assert/strict';
import type { MemorySnapshot, OutOfMemory, SnapshotSite } from '../../../extension/protocol/trace';
import { judgeFailures } from '../../../extension/analysis/findings/kinds/outOfMemory';
import { judgeTrace, sureLeaks } from '../../../extension/analysis/findings/judgeTrace';
import type { Pool } from '../../../extension/protocol/trace';
import type { Verdicts } from '../../../extension/protocol/verdicts';
import { findingSpark } from '../../../extension/analysis/findings/findingSpark';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { overallVerdict } from '../../../extension/analysis/sites/overallVerdict';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const GB = 1 << 30;

const site = (part: Partial<SnapshotSite>): SnapshotSite => ({
  site: 1,
  liveBytes: 0,
  liveCount: 0,
  oldestStep: 30,
  grownBytes: 0,
  activationBytes: 0,
  stepAllocatedBytes: 0,
  usualAllocatedBytes: 0,
  ...part,
});
const snapshot = (part: Partial<MemorySnapshot>): MemorySnapshot => ({
  step: 31,
  tensorBytes: 10 * GB,
  reservedBytes: 11 * GB,
  driverBytes: 12 * GB,
  processBytes: 12 * GB,
  usedBytes: 13 * GB,
  totalBytes: 16 * GB,
  tracedBytes: 12 * GB,
  fragmentation: {
    segments: 100,
    segmentBytes: 11 * GB,
    partlyUsedSegments: 50,
    emptyBytes: 0,
    freeBytes: 100 * MB,
    largestFreeBytes: 50 * MB,
  },
  pools: [],
  oldGradientBytes: 0,
  categories: [{ category: 'parameter', bytes: 4 * GB, count: 10 }],
  sites: [],
  ...part,
});
const failing = (part: Partial<OutOfMemory> = {}): OutOfMemory => ({
  process: 0,
  device: 0,
  layer: 'tensor',
  requestedBytes: 512 * MB,
  timeNs: 30.5e8,
  site: 1,
  liveBytes: 10 * GB,
  thread: 0,
  freeBytes: null,
  snapshot: snapshot({}),
  ...part,
});
const ledger = { tensor: () => 5 * GB, reserved: () => 6 * GB, driver: () => 6.5 * GB, used: () => 7 * GB };
function judged(outOfMemory: OutOfMemory[], leakBytes = 0, outOfMemoryCount = outOfMemory.length): Verdicts {
  const run = new StepRun();
  run.site(1);
  for (let step = 1; step <= 30; step++) {
    if (leakBytes > 0) run.alloc(2, leakBytes);
    run.pass(1, 2 * GB);
    run.endStep();
  }
  return judgeTrace(new RunTrace(run, { outOfMemory, outOfMemoryCount, totalBytes: 16 * GB, ledger }));
}

test('a leak that holds a fifth of what is alive led to it: one finding, with the leak’s line', () => {
  const verdicts = judged([failing()], 100 * MB);
  const [finding, ...others] = verdicts.findings;
  assert.deepEqual([finding?.verdict, finding?.cause, finding?.place?.line, others.length], ['oom', 'leak', 2, 0]);
  assertSentence(finding?.title);
  assert.equal(sureLeaks(verdicts.findings).length, 1);
});

test('what rose after the last step led to it; after rounds that nothing names it did not', () => {
  const judgedBy = (source: 'optimizer' | 'periodic') => {
    const run = new StepRun();
    run.source = source;
    run.site(1);
    for (let step = 1; step <= 15; step++) {
      run.pass(1, 2 * GB);
      run.endStep();
    }
    const trace = new RunTrace(run, { outOfMemory: [failing()], outOfMemoryCount: 1, totalBytes: 16 * GB, ledger });
    const after = { process: 0, bytes: 8 * GB, line: 'train.py:1 train', lineBytes: 8 * GB };
    const context = {
      source: trace,
      leaks: [],
      after,
      setUps: [],
      lineText: () => '',
      heldBy: () => 0,
      lastStep: () => 15,
    };
    const verdict = judgeFailures(context)[0]?.verdict;
    assertSentence(verdict?.detail);
    return [verdict?.cause, verdict?.step];
  };
  // A round of an inner loop is no step.
  assert.deepEqual(
    [judgedBy('optimizer'), judgedBy('periodic')],
    [
      ['leak', 1],
      ['full', null],
    ],
  );
});

test('what one line gathered in too few steps for a verdict is taken for the cause, unless that may be weights that are loaded', () => {
  const run = new StepRun();
  run.site(1);
  for (let step = 1; step <= 20; step++) run.endStep();
  const gathered = site({ liveBytes: 9.5 * GB, liveCount: 20, oldestStep: 1, usualAllocatedBytes: 512 * MB });
  const outOfMemory = [failing({ snapshot: snapshot({ step: 20, sites: [gathered] }) })];
  const source = new RunTrace(run, { outOfMemory, outOfMemoryCount: 1, totalBytes: 16 * GB });
  const causeIn = (setUps: number[]) => {
    const context = {
      source,
      leaks: [],
      after: null,
      setUps,
      lineText: () => null,
      heldBy: () => 0,
      lastStep: () => 20,
    };
    const verdict = judgeFailures(context)[0]?.verdict;
    assertSentence(verdict?.detail);
    return verdict?.cause;
  };
  assert.deepEqual([causeIn([]), causeIn([0])], ['leak', 'full']);
});

test('what a line never allocated in the rounds of a loop does not make a step bigger', () => {
  const sites = [site({ site: 2, liveBytes: 8 * GB, stepAllocatedBytes: 8 * GB, usualAllocatedBytes: 0 })];
  const detail = (source: 'optimizer' | 'periodic') => {
    const run = new StepRun();
    run.source = source;
    for (let step = 1; step <= 30; step++) {
      run.pass(1, 2 * GB);
      run.endStep();
    }
    const outOfMemory = [failing({ snapshot: snapshot({ sites }) })];
    return judgeTrace(new RunTrace(run, { outOfMemory, outOfMemoryCount: 1, totalBytes: 16 * GB, ledger }))
      .outOfMemory[0]?.detail;
  };
  assertSentence(detail('optimizer'));
  assertSentence(detail('periodic'));
});

test('where there are several GPUs, the one that is full is named', () => {
  class TwoGpus extends RunTrace {
    override info() {
      const info = super.info();
      const [first] = info.devices;
      return { ...info, devices: first === undefined ? [] : [first, { ...first, index: 1 }] };
    }
  }
  const run = new StepRun();
  run.pass(1, 2 * GB);
  const outOfMemory = [failing({ device: 1 })];
  const verdicts = judgeTrace(new TwoGpus(run, { outOfMemory, outOfMemoryCount: 1, totalBytes: 16 * GB, ledger }));
  assertSentence(verdicts.outOfMemory[0]?.headline);
});

test('before the first optimizer step, slices of time were counted: a failure there is one of step 1', () => {
  const early = failing({ timeNs: 0.5e8, snapshot: snapshot({ step: 7 }) });
  assertSentence(judged([early]).findings[0]?.title ?? '');
});

test('a leak that holds less is a finding beside it', () => {
  const { findings } = judged([failing()], 10 * MB);
  assert.deepEqual(
    findings.map(finding => [finding.verdict, finding.cause]),
    [
      ['oom', 'full'],
      ['leak', null],
    ],
  );
});

const pool = (part: Partial<Pool>): Pool => ({
  ...{ process: 0, device: 0, kind: 'graph', id: '1:0', makers: 1, label: '', segments: 1 },
  ...{ reservedBytes: GB, liveBytes: 0, site: 1 },
  ...part,
});

test('what captured graphs keep to themselves would have been enough', () => {
  const judgedWith = (pools: Pool[]) => judged([failing({ snapshot: snapshot({ pools }) })]).outOfMemory[0];
  const three = judgedWith([1, 2, 3].map(n => pool({ id: `${n}:0`, reservedBytes: n * GB, liveBytes: 256 * MB })));
  assert.equal(three?.cause, 'pools');
  assertSentence(three?.detail);
  // One pool for all is as big as the biggest.
  assert.deepEqual([three?.advice[0]?.bytes, three?.advice[0]?.kind], [2.5 * GB, 'one-pool']);
  const one = judgedWith([pool({}), pool({ kind: 'common', reservedBytes: 9 * GB })]);
  assert.deepEqual([one?.cause, one?.advice[0]?.bytes], ['pools', GB]);
  assertSentence(one?.advice[0]?.text);
  assert.notEqual(judgedWith([pool({ reservedBytes: 300 * MB })])?.cause, 'pools');
});

test('unused memory enough, and no gap long enough: fragmentation', () => {
  const fragmentation = { ...snapshot({}).fragmentation, freeBytes: 2 * GB, largestFreeBytes: 300 * MB };
  const { outOfMemory, findings } = judged([failing({ snapshot: snapshot({ fragmentation }) })]);
  assert.equal(outOfMemory[0]?.cause, 'fragmentation');
  assertSentence(findings[0]?.title ?? '');
});

test('a request of half of the device, or of four times the line’s habit, is one big request', () => {
  assert.equal(judged([failing({ requestedBytes: 8 * GB })]).outOfMemory[0]?.cause, 'big-request');
  const causeWith = (...others: SnapshotSite[]): string | undefined =>
    judged([failing({ snapshot: snapshot({ sites: [site({ usualAllocatedBytes: 100 * MB }), ...others] }) })])
      .outOfMemory[0]?.cause;
  assert.equal(causeWith(), 'big-request');
  // One of many layers: others of that size are alive.
  assert.equal(causeWith(site({ site: 2, liveBytes: 2 * GB, liveCount: 4 })), 'full');
});

test('other processes that hold a quarter of the device', () => {
  const { outOfMemory } = judged([failing({ snapshot: snapshot({ processBytes: 8 * GB, usedBytes: 15 * GB }) })]);
  assert.equal(outOfMemory[0]?.cause, 'other-process');
  assertSentence(outOfMemory[0]?.title ?? '');
});

test('too few steps for a verdict: one line with most of the memory, from many steps, is a leak all the same', () => {
  const sites = [site({ site: 1, liveBytes: 8 * GB, liveCount: 9, oldestStep: 1, usualAllocatedBytes: GB })];
  const { findings } = judged([failing({ snapshot: snapshot({ step: 9, sites }) })]);
  assert.deepEqual([findings[0]?.cause, findings[0]?.place?.line, findings[0]?.confidence], ['leak', 1, 0.75]);
});

test('who is alive, by line, category and age, and what was new in the step', () => {
  const sites = [
    site({ site: 1, liveBytes: 5 * GB, liveCount: 5, stepAllocatedBytes: 3 * GB, usualAllocatedBytes: GB }),
    site({ site: 2, liveBytes: 2 * GB, liveCount: 2, stepAllocatedBytes: GB, usualAllocatedBytes: GB }),
  ];
  const { outOfMemory, findings } = judged([failing({ snapshot: snapshot({ sites }) })]);
  const [failure] = outOfMemory;
  assert.deepEqual(failure?.aliveByLine[0], { site: 1, line: 'train.py:1 train', bytes: 5 * GB, count: 5 });
  assert.deepEqual(failure?.newInStep, [{ site: 1, line: 'train.py:1 train', bytes: 3 * GB, usualBytes: GB }]);
  assert.deepEqual([failure?.freeBytes, failure?.largestFreeBytes, failure?.step], [3 * GB, 50 * MB, 31]);
  assertSentence(findings[0]?.evidence.join('\n'));
});

test('where no segment was seen, no gap is said to be the biggest', () => {
  const fragmentation = { ...snapshot({}).fragmentation, segments: 0, freeBytes: 0, largestFreeBytes: 0 };
  const [failure] = judged([failing({ snapshot: snapshot({ fragmentation }) })]).outOfMemory;
  assert.equal(failure?.largestFreeBytes, null);
});

test('a driver’s failure that PyTorch may get over is none; without a snapshot little is said', () => {
  assert.deepEqual(judged([failing({ layer: 'driver' })]).outOfMemory, []);
  const { outOfMemory } = judged([failing({ snapshot: null })]);
  assert.deepEqual([outOfMemory[0]?.cause, outOfMemory[0]?.step, outOfMemory[0]?.advice], ['full', null, []]);
});

test('what piled up behind the last step led to it, where it has a good part of what was alive', () => {
  const causeWith = (bytes: number, process = 0, steps = 1): string | null | undefined => {
    const run = new StepRun();
    run.site(1);
    for (let step = 1; step <= steps; step++) run.endStep();
    const source = new RunTrace(run, { outOfMemory: [failing()], outOfMemoryCount: 1, totalBytes: 16 * GB });
    const after = { process, bytes, line: 'train.py:20 evaluate', lineBytes: bytes };
    return judgeFailures({
      source,
      leaks: [],
      after,
      setUps: [],
      lineText: () => null,
      heldBy: () => 0,
      lastStep: () => Infinity,
    })[0]?.verdict.detail;
  };
  assertSentence(causeWith(4 * GB));
  for (const other of [causeWith(100 * MB), causeWith(4 * GB, 1)]) assertSentence(other ?? '');
  for (const other of [causeWith(100 * MB, 0, 9), causeWith(4 * GB, 1, 9)]) assert.match(other ?? '', /no known leak/);
});

test('a list that was built in a loop is no leak that filled the memory where a line behind the loop failed', () => {
  const run = new StepRun();
  run.site(1);
  for (let step = 1; step <= 30; step++) {
    run.alloc(2, 400 * MB);
    run.endStep();
  }
  class Rounds extends RunTrace {
    override info() {
      const info = super.info();
      return { ...info, steps: info.steps.map(steps => ({ ...steps, source: 'periodic' as const, sure: false })) };
    }
  }
  const judgedWith = (site: number) => {
    const outOfMemory = [failing({ site })];
    const verdicts = judgeTrace(new Rounds(run, { outOfMemory, outOfMemoryCount: 1, totalBytes: 16 * GB, ledger }));
    return [verdicts.outOfMemory[0]?.cause, verdicts.findings.map(({ verdict }) => verdict)];
  };
  assert.deepEqual(judgedWith(2), ['leak', ['oom']]);
  assert.deepEqual(judgedWith(1), ['full', ['oom', 'rose']]);
});

test('failures of one line and cause are one finding', () => {
  const { findings, outOfMemory } = judged([failing(), failing(), failing()]);
  assert.deepEqual([findings.length, outOfMemory.length], [1, 3]);
});

test('when the device will be full is not told once memory ran out', () => {
  const [before] = judged([], 100 * MB).findings;
  const [after] = judged([failing()], 100 * MB).findings;
  assert.ok(before?.fullAtStep);
  assert.deepEqual([after?.verdict, after?.fullAtStep], ['oom', null]);
});

test('failures that were only counted are said, and judged by those of their line of which more is known', () => {
  const fragmentation = { ...snapshot({}).fragmentation, freeBytes: 2 * GB, largestFreeBytes: 300 * MB };
  const known = failing({ snapshot: snapshot({ fragmentation }) });
  const { findings, outOfMemory } = judged([known, failing({ snapshot: null }), known], 0, 100_000);
  assert.deepEqual(
    findings.map(({ cause }) => cause),
    ['fragmentation'],
  );
  assert.deepEqual(
    outOfMemory.map(({ index }) => index),
    [0, 2],
  );
  assertSentence(findings[0]?.evidence.join('\n'));
});

/** Judged where the driver's calls were seen, and it refused some. */
function withDriver(failure: OutOfMemory, refused: number[]): Verdicts['outOfMemory'] {
  const run = new StepRun();
  run.site(1);
  for (let step = 1; step <= 30; step++) {
    run.pass(1, 2 * GB);
    run.endStep();
  }
  const others = refused.map(timeNs => failing({ layer: 'driver', timeNs, snapshot: null }));
  const outOfMemory = [...others, failure];
  const source = new RunTrace(run, { outOfMemory, outOfMemoryCount: outOfMemory.length, totalBytes: 16 * GB });
  const info = source.info();
  const [tensors] = info.totals;
  assert.ok(tensors);
  source.info = () => ({ ...info, totals: [...info.totals, { ...tensors, layer: 'driver', allocations: 1 }] });
  return judgeTrace(source).outOfMemory;
}

test('the GPU had room, and PyTorch did not ask for it: a limit, and what raising it gives', () => {
  const [limited] = withDriver(failing(), []);
  const [raised] = limited?.advice ?? [];
  assert.deepEqual([limited?.cause, raised?.kind, raised?.bytes], ['limit', 'limit', 3 * GB]);
  const copy = (id: number, liveBytes: number): SnapshotSite =>
    site({ site: id, liveBytes, liveCount: 1, oldestStep: 31 });
  const copies = snapshot({ sites: [copy(1, GB), copy(2, 2 * GB)] });
  const [explained] = withDriver(failing({ requestedBytes: 2 * GB, snapshot: copies }), []);
  assert.deepEqual(
    explained?.advice.map(({ kind }) => kind),
    ['copies', 'limit', 'batch'],
  );
  assertSentence(explained?.advice[0]?.text, 'where it stopped is not why');
  const more = { stepAllocatedBytes: 4 * GB, usualAllocatedBytes: GB, activationBytes: 4 * GB };
  const grown = snapshot({ sites: [site({ liveBytes: 4 * GB, liveCount: 4, oldestStep: 31, ...more })] });
  assert.deepEqual(
    withDriver(failing({ requestedBytes: GB, snapshot: grown }), [])[0]?.advice.map(({ kind }) => kind),
    ['batch', 'limit', 'checkpointing'],
    'the step that took more is why',
  );
  assert.equal(withDriver(failing(), [30.4e8]).at(-1)?.cause, 'full', 'the driver refused it just before');
  assert.equal(withDriver(failing(), [1e8]).at(-1)?.cause, 'limit', 'what it refused long ago is another story');
  const unread = failing({ snapshot: snapshot({ usedBytes: null, processBytes: null }) });
  assert.equal(withDriver(unread, [])[0]?.cause, 'full', 'what is free is not known');
});

test('where no figure supports an advice, none is given, and why', () => {
  const [plain] = judged([failing({ snapshot: snapshot({ usedBytes: 12 * GB }) })]).outOfMemory;
  assert.deepEqual(plain?.advice, []);
  assertSentence(plain?.noAdvice ?? '');
  const [counted] = judged([failing({ snapshot: null })]).outOfMemory;
  assertSentence(counted?.noAdvice ?? '');
});

test('what the step made gets less with the batch; of the first step, only what waits for the backward pass', () => {
  const made = site({ liveBytes: 4 * GB, liveCount: 4, oldestStep: 31, activationBytes: 4 * GB });
  const grown = site({ site: 2, liveBytes: 5 * GB, liveCount: 9, oldestStep: 1, grownBytes: GB });
  const [later] = judged([failing({ snapshot: snapshot({ usedBytes: 12 * GB, sites: [made, grown] }) })]).outOfMemory;
  assert.deepEqual(
    later?.advice.map(({ kind, bytes, atMost }) => [kind, bytes, atMost]),
    [
      ['batch', Math.round(0.55 * GB), undefined], // 5 GiB, and the request
      ['checkpointing', 3 * GB, true],
    ],
  );
  assertSentence(later?.advice[1]?.text ?? '');
  const one = site({ site: 2, liveBytes: GB, liveCount: 1 });
  assertSentence(judged([failing({ snapshot: snapshot({ sites: [one, made] }) })]).findings[0]?.evidence[0]);
});

test('old gradients come first where they are more than a smaller batch would save; the card says how much', () => {
  const made = site({ liveBytes: 4 * GB, liveCount: 2, oldestStep: 31, activationBytes: 4 * GB });
  const judgedWith = (oldGradientBytes: number): Verdicts =>
    judged([failing({ snapshot: snapshot({ usedBytes: 12 * GB, sites: [made], oldGradientBytes }) })]);
  const bytes = (oldGradientBytes: number) => judgedWith(oldGradientBytes).outOfMemory[0]?.advice[0]?.bytes;
  assert.deepEqual([bytes(2 * GB), bytes(0.3 * GB)], [2 * GB, Math.round(0.45 * GB)]);
  for (const old of [2 * GB, 0]) {
    const verdicts = judgedWith(old);
    const [card] = verdicts.findings;
    assert.ok(card);
    assert.deepEqual(findingSpark(new RunTrace(new StepRun()), card), [], 'a line without growth says nothing');
    const { sentence } = overallVerdict(new RunTrace(new StepRun()).info(), verdicts);
    assertSentence([card.suggestion, sentence].join(' | '));
  }
});

test('a few blocks of the size that was asked for, or half of it, made by several calls, are copies; equal layers are not', () => {
  const copy = (id: number, liveBytes: number): SnapshotSite =>
    site({ site: id, liveBytes, liveCount: 1, oldestStep: 31 });
  const advice = (...sites: SnapshotSite[]) =>
    judged([failing({ requestedBytes: 4 * GB, snapshot: snapshot({ sites }) })]).outOfMemory[0]?.advice ?? [];
  const [copies] = advice(copy(1, 2 * GB), copy(2, 4 * GB));
  assert.equal(copies?.kind, 'copies');
  assertSentence(copies.text);
  for (const others of [
    [copy(1, 2 * GB), copy(2, 3 * GB)],
    [copy(1, 2 * GB), { ...copy(2, 4 * GB), oldestStep: 3 }],
    [{ ...copy(1, 4 * GB), liveCount: 2 }],
    [1, 2, 3, 4, 5].map(id => copy(id, 2 * GB)),
  ])
    assert.ok(!advice(...others).some(({ kind }) => kind === 'copies'));
});

test('as many elements as a tensor has, squared, are two vectors that met as a row and a column', () => {
  const rows = 60_000;
  const advice = (requestedBytes: number, bytes: number) =>
    judged([failing({ requestedBytes, snapshot: snapshot({ sites: [site({ liveBytes: 2 * bytes, liveCount: 2 })] }) })])
      .outOfMemory[0]?.advice[0];
  const squared = advice(rows * rows * 4, 240_128);
  assert.equal(squared?.kind, 'shapes');
  assertSentence(squared.text);
  for (const [bytes, other] of [
    [rows * rows * 4, 280_064],
    [rows * rows * 5, 240_128],
    [8 * MB, 6_144], // 8 MiB are nearly 1,448 × 1,448
    [512, 512],
  ] as const)
    assert.notEqual(advice(bytes, other)?.kind, 'shapes');
});

test('a failure is got over where the program ends well, takes more steps, or fails again', () => {
  const { outOfMemory } = judged([failing(), failing()]);
  assert.deepEqual(
    outOfMemory.map(({ wentOn }) => wentOn),
    [true, null],
  );
  assert.equal(judged([failing({ snapshot: snapshot({ step: 7 }) })]).outOfMemory[0]?.wentOn, true);
});

test('what the allocator said was free is told', () => {
  const { outOfMemory } = judged([failing({ freeBytes: 95 * MB }), failing()]);
  assert.deepEqual(
    outOfMemory.map(({ freeBytes }) => freeBytes === 95 * MB),
    [true, false],
  );
});
