// A run that ran out of memory on a GPU of unknown size: what it could have had at least is what it is to fit into.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { fitter, hasSize, readFitRun } from '../../../extension/fit/fitRun';
import { answerText, bestText, gpuText, notes, peakParts } from '../../../extension/fit/fitText';
import { UNCHANGED } from '../../../extension/fit/forecast';
import { loadNative } from '../../../extension/native/addon';
import type {
  LedgerSeries,
  LedgerSeriesQuery,
  MemorySnapshot,
  SnapshotSite,
  TraceInfo,
  TraceSource,
} from '../../../extension/protocol/trace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);
const folder = mkdtempSync(join(tmpdir(), 'limit-'));
after(() => rmSync(folder, { recursive: true }));
const LIMIT = 500 << 20;

/** The stored run, as if its GPU had no size, and had failed with so much reserved. */
function without(size: TraceSource, reservedBytes: number | null, then: Partial<MemorySnapshot> = {}): TraceSource {
  const whole = size.info();
  const snapshot = {
    reservedBytes,
    tensorBytes: LIMIT - 1,
    pools: [],
    usedBytes: null,
    processBytes: null,
    step: 1,
    ...then,
  };
  const failure = {
    process: 0,
    device: 0,
    layer: 'tensor',
    site: 0,
    requestedBytes: 1 << 20,
    freeBytes: null,
    snapshot,
  };
  const info = {
    ...whole,
    devices: whole.devices.map(device => ({ ...device, totalBytes: 0 })),
    processes: whole.processes.map(process => ({ ...process, exitCode: 1 })),
    outOfMemory: [failure],
    steps: [],
  } as unknown as TraceInfo;
  return answering(size, { info: () => info });
}

/** The trace, but for some of its answers. */
function answering(trace: TraceSource, answers: Partial<TraceSource>): TraceSource {
  return new Proxy(trace, {
    get: (of, name) => {
      const value: unknown = Reflect.get(answers, name) ?? Reflect.get(of, name);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}

test('a run without the size of its GPU is to fit into what it could have had at least', async () => {
  const loaded = loadNative(join(process.cwd(), 'dist'));
  assert.ok('addon' in loaded);
  const { addon } = loaded;
  const path = join(folder, 'batch20.gputrace');
  writeFileSync(path, gunzipSync(readFileSync('test/golden/fit/graphnet20.gputrace.gz')));
  const native = addon.open(path);
  await native.settle();
  const [known, unknown] = await Promise.all(
    [LIMIT, null].map(bytes => readFitRun(addon, { name: 'x', path, source: without(native, bytes) })),
  );
  assert.ok(known && unknown && !('error' in known) && !('error' in unknown));
  assert.deepEqual([hasSize(known), hasSize(unknown)], [true, false]);
  assert.ok(
    hasSize({ ...known, replayed: { ...known.replayed, equal: 0 } }),
    'how sure the replay is stands beside it',
  );
  const facts = fitter(addon, { trace: '', runs: [known], batches: [], gpuBytes: null })(() => UNCHANGED);
  assert.ok(!('error' in facts));
  assert.deepEqual([facts.totalBytes, facts.requested?.fits], [LIMIT, false], 'its peak was higher');
  assertSentence(bestText(facts));
  assertSentence(answerText(facts));
  assertSentence(peakParts(facts));
  assertSentence(gpuText(facts));
  const parts = (of: typeof known): number[] => {
    const found = fitter(addon, { trace: '', runs: [of], batches: [], gpuBytes: null })(() => null);
    return 'error' in found ? [] : found.changes.map(change => change.parts);
  };
  assert.ok(parts(known).includes(2));
  const sites = known.replayed.run.sites.map(site => ({ ...site, pass: 'other' as const }));
  const untrained = { ...known, replayed: { ...known.replayed, run: { ...known.replayed.run, sites } } };
  assert.ok(!parts(untrained).includes(2), 'without gradients there is nothing to accumulate');
  const unseen = { ...known, replayed: { ...known.replayed, recordedPeakBytes: 0 } };
  const rough = fitter(addon, { trace: '', runs: [unseen], batches: [], gpuBytes: null })(() => null);
  assert.ok(!('error' in rough) && rough.changes[0]!.reservedBytes > 0, 'where no segments were recorded, as replayed');
  native.close();
});

test('a step that failed because its batch was larger is no part of the forecast', async () => {
  const loaded = loadNative(join(process.cwd(), 'dist'));
  assert.ok('addon' in loaded);
  const path = join(folder, 'batch20.gputrace');
  const native = loaded.addon.open(path);
  await native.settle();
  const step = native.info().steps[0]!.count;
  const series = native.siteSeries({ process: 0, layer: 'tensor', from: 0, to: 1_000, points: 64 });
  const [input = 0, forward = 0] = series.id.filter((_, row) => {
    const own = series.stepLargestBytes.subarray(row * series.last.length, (row + 1) * series.last.length);
    return native.site(series.id[row]!)?.pass === 'forward' && Math.max(...own) > 0;
  });
  const sites = [input, forward].map(site => {
    const bytes = { liveBytes: 2 ** 40, stepAllocatedBytes: 2 ** 40, usualAllocatedBytes: 1, liveCount: 1 };
    const activationBytes = site === input ? 0 : 1;
    return { site, oldestStep: step, grownBytes: 0, activationBytes, ...bytes } satisfies SnapshotSite;
  });
  const source = without(native, LIMIT, { step, sites });
  const run = await readFitRun(loaded.addon, { name: 'x', path, source });
  assert.ok(!('error' in run));
  assert.ok(run.grew && Math.max(...run.replayed.run.step) < step);
  native.close();
});

test('of steps with batches of several sizes, the recorded batch is that of the step with most', async () => {
  const loaded = loadNative(join(process.cwd(), 'dist'));
  assert.ok('addon' in loaded);
  const path = join(folder, 'batch20.gputrace');
  const native = loaded.addon.open(path);
  await native.settle();
  const variedOf = async (most: readonly number[]) => {
    const steps = Float64Array.from(most, (_, i) => i + 1);
    const ledgerSeries = (query: LedgerSeriesQuery): LedgerSeries => {
      const series = native.ledgerSeries(query);
      return { ...series, source: 'optimizer', first: steps, last: steps, tensorMaxBytes: Float64Array.from(most) };
    };
    const source = answering(native, { ledgerSeries });
    const run = await readFitRun(loaded.addon, { name: 'x', path, source });
    assert.ok(!('error' in run));
    return run;
  };
  assert.equal((await variedOf([1, 90, 100, 95])).varied, null, 'the first step has no states of an optimizer');
  const run = await variedOf([1, 2e6, 8e6, 64e6, 32e6]);
  assert.deepEqual(run.varied, { step: 4, leastBytes: 2e6, mostBytes: 64e6 });
  const facts = fitter(loaded.addon, { trace: 'x', runs: [run], batches: [], gpuBytes: 2 ** 30 })(() => null);
  assert.ok(!('error' in facts));
  assertSentence(notes(facts, false).find(note => note.includes('step 4')) ?? '');
  native.close();
});
