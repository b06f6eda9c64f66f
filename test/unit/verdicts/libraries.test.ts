// Driver memory outside PyTorch's cache by the library that called, in words and numbers.
import assert from 'node:assert/strict';
import { readCards } from '../../../extension/analysis/ledger/cardLedger';
import { joinLibraries, librariesOf, readLibraries } from '../../../extension/analysis/ledger/libraries';
import { siteText } from '../../../extension/analysis/sites/site';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { libraryName } from '../../../extension/text/libraryName';
import type { LedgerLibrary } from '../../../extension/protocol/verdicts';
import { makeSite } from '../fakeTrace';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const NCCL = '/usr/lib/libnccl.so.2';
const BLAS = '/opt/lib/libcublasLt.so.13';

/** 40 steps: 100 MB of PyTorch's, 64 of NCCL's, 8 + 1 a step of cuBLAS's without a line, 5 of who knows whom. */
function mixed(): StepRun {
  const run = new StepRun();
  run.site(2, { layer: 'driver', segments: true, library: '/opt/torch/lib/libc10_cuda.so' });
  run.site(3, { layer: 'driver', library: NCCL });
  run.site(4, { layer: 'driver', library: BLAS, lineSource: 'none' });
  run.site(7, { layer: 'driver', library: BLAS });
  run.site(5, { layer: 'driver' });
  run.site(6, { layer: 'driver', library: '/opt/torch/lib/libc10_cuda.so' }); // not told to be a segment
  for (const [site, bytes] of [
    [2, 100],
    [3, 60],
    [3, 4],
    [7, 8],
    [5, 5],
    [6, 20],
  ] as const)
    run.alloc(site, bytes * MB);
  for (let step = 1; step <= 40; step++) {
    run.pass(1, MB);
    run.alloc(4, MB);
    run.endStep();
  }
  return run;
}
const facts: RunFacts = {
  frames: { 4: [] },
  ledger: { tensor: () => 0, reserved: () => 120 * MB, driver: step => (197 + step) * MB },
  totalBytes: 1000 * MB,
};
const short = (libraries: readonly LedgerLibrary[]): [string, number, number | null][] =>
  libraries.map(({ name, bytes, bytesPerStep }) => [
    name,
    bytes / MB,
    bytesPerStep === null ? null : bytesPerStep / MB,
  ]);

test('each library has its bytes and slope; the segments of the cache are no part of it', () => {
  const found = readLibraries(new RunTrace(mixed(), facts), 0, 0, { points: 256, cached: true });
  assert.deepEqual(short(found), [
    ['NCCL (libnccl.so.2)', 64, 0],
    ['cuBLAS (libcublasLt.so.13)', 48, 1],
    ['other', 5, 0],
  ]);
  assert.deepEqual(found[0]?.sites, [3]);
});

test('where PyTorch keeps no cache, its allocator is a library like any other', () => {
  const found = readLibraries(new RunTrace(mixed(), facts), 0, 0, { points: 256, cached: false });
  assert.deepEqual(short(found)[2], ['PyTorch (libc10_cuda.so)', 20, 0]);
});

test('a ledger names them in its rows', () => {
  const [ledger] = judgeTrace(new RunTrace(mixed(), facts)).ledger;
  assert.deepEqual(
    ledger?.libraries.map(({ path, bytes }) => [path, bytes / MB]),
    [
      [NCCL, 64],
      [BLAS, 48],
      ['', 5],
    ],
  );
});

test('a site that grows without a Python line is told by its library', () => {
  const { findings } = judgeTrace(new RunTrace(mixed(), facts));
  assert.equal(findings.length, 1);
  const [finding] = findings;
  assert.deepEqual(
    [finding?.verdict, finding?.class, finding?.place, finding?.library],
    ['leak', 'driver', null, 'cuBLAS (libcublasLt.so.13)'],
  );
  assertSentence(finding?.title ?? '');
  assertSentence(finding?.evidence.join('\n'));
});

/** A library that takes `bytes` in each step, each time from another line. */
function scattered(steps: number, bytes: number, library: string): RunTrace {
  const run = new StepRun();
  for (let step = 1; step <= steps; step++) {
    run.pass(1, MB);
    run.alloc(run.site(10 + step, { layer: 'driver', library }), bytes);
    run.endStep();
  }
  return new RunTrace(run, { ledger: { driver: step => step * bytes } });
}

test('a library that grows from ever new lines is one finding, though none of its lines grows', () => {
  const { findings } = judgeTrace(scattered(60, MB, NCCL));
  assert.equal(findings.length, 1);
  assertSentence(findings[0]?.title);
  assert.deepEqual([findings[0]?.class, findings[0]?.sites.length, findings[0]?.bytesPerStep], ['driver', 60, MB]);
  assert.ok((findings[0]?.confidence ?? 0) > 0.9 && (findings[0]?.confidence ?? 0) <= 0.99);
});

test('what the pool of CuPy takes where its arrays leak is no leak of its own', () => {
  const pool = '/opt/cupy_backends/cuda/api/runtime.cpython-312-x86_64-linux-gnu.so';
  for (const [library, found] of [
    [pool, ['tensor']],
    [NCCL, ['tensor', 'driver', 'driver']],
  ] as const) {
    const run = new StepRun();
    run.site(2, { layer: 'driver', library });
    for (let step = 1; step <= 60; step++) {
      run.alloc(1, 2 * MB);
      run.alloc(2, MB); // a line of its own, where nothing is kept
      run.alloc(run.site(10 + step, { layer: 'driver', library: `${library}2` }), MB);
      run.endStep();
    }
    const { findings } = judgeTrace(new RunTrace(run, { ledger: { driver: step => 2 * step * MB } }));
    assert.deepEqual(
      findings.map(({ layer }) => layer),
      found,
      library,
    );
  }
});

test('what a pool of arrays has unused is room for a leak', () => {
  const full = (library: string): number | null | undefined => {
    const run = new StepRun();
    run.site(2, { layer: 'driver', library });
    run.alloc(2, 600 * MB); // in advance
    for (let step = 1; step <= 60; step++) {
      run.alloc(1, MB);
      run.endStep();
    }
    const ledger = { tensor: (step: number) => step * MB, reserved: () => 0, driver: () => 600 * MB };
    return judgeTrace(new RunTrace(run, { ledger, totalBytes: 1000 * MB })).findings[0]?.fullInSteps;
  };
  assert.deepEqual([full(NCCL), full('/opt/jax_plugins/xla_cuda12/xla_cuda_plugin.so')], [400, 940]);
});

test('no such finding for little memory, for what no library is known of, and for a library that has stopped', () => {
  const titles = (trace: RunTrace): string[] => judgeTrace(trace).findings.map(({ title }) => title);
  assert.deepEqual(titles(scattered(60, 1024, NCCL)), []);
  assert.deepEqual(titles(scattered(60, MB, '')), []);
  const run = new StepRun();
  for (let step = 1; step <= 80; step++) {
    run.pass(1, MB);
    if (step <= 30) run.alloc(run.site(10 + step, { layer: 'driver', library: NCCL }), 2 * MB);
    run.endStep();
  }
  assert.deepEqual(titles(new RunTrace(run)), []);
});

test('the libraries of a card sum to what lies outside the cache', () => {
  const all = [
    { path: NCCL, name: 'NCCL', bytes: 5, bytesPerStep: 1 },
    { path: '', name: 'other', bytes: 2, bytesPerStep: 0 },
    { path: NCCL, name: 'NCCL', bytes: 6, bytesPerStep: 2 },
    { path: BLAS, name: 'cuBLAS', bytes: 0, bytesPerStep: null },
  ];
  assert.deepEqual(joinLibraries(all).map(({ name, bytes }) => [name, bytes]), [['NCCL', 11], ['other', 2]]); // prettier-ignore
  assert.deepEqual(librariesOf(20, all).map(({ path, bytes, bytesPerStep }) => [path, bytes, bytesPerStep]), [[NCCL, 11, 3], ['', 9, 0]]); // prettier-ignore
  assert.equal(librariesOf(11, all).length, 1);
  assert.deepEqual(librariesOf(7, [{ path: '', name: 'other', bytes: 7, bytesPerStep: 0 }]), [], 'nothing is known');
});

test('a card’s part has its libraries where driver memory lies outside the cache', () => {
  const run = mixed();
  const trace = new RunTrace(run, facts);
  const info = trace.info();
  const [total] = info.totals;
  assert.ok(total);
  info.totals = [{ ...total, layer: 'driver', liveBytes: 237 * MB }];
  const [card] = readCards(trace);
  const part = card?.parts.find(({ kind }) => kind === 'driver');
  const sum = (part?.libraries ?? []).reduce((bytes, library) => bytes + library.bytes, 0);
  assert.equal(sum, part?.bytes);
  assert.deepEqual(part?.libraries.map(({ path }) => path), [NCCL, BLAS, '']); // prettier-ignore
  assert.ok(part?.lines.some(({ library, line }) => library === BLAS && line === 0));
});

test('names say who stands behind a file', () => {
  const names: [string, string][] = [
    ['/usr/lib/libnccl.so.2', 'NCCL (libnccl.so.2)'],
    ['/x/site-packages/cupy_backends/cuda/api/runtime.cpython-312.so', 'CuPy (runtime.cpython-312.so)'],
    ['/usr/bin/python3.12', 'Python (python3.12)'],
    ['/home/u/libmine.so', 'libmine.so'],
    ['/home/u/a.out', 'a.out'],
    ['', ''],
  ];
  for (const [path, name] of names) assert.equal(libraryName(path), name);
});

test('a row without a Python line is called by its library', () => {
  assert.equal(siteText(makeSite({ id: 1, layer: 'driver', library: NCCL })), 'NCCL (libnccl.so.2)');
  assertSentence(siteText(makeSite({ id: 1, layer: 'driver' })));
});
