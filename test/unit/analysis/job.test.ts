// What is said of a job's ranks: who differs, by what, and nothing else.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jobDifferences } from '../../../extension/analysis/job/differences';
import { jobLines } from '../../../extension/analysis/job/jobLines';
import { jobView, type FoundSummary } from '../../../extension/analysis/job/jobView';
import { rankList, groupText } from '../../../extension/analysis/job/rankNames';
import type { JobDifference, RankSummary } from '../../../extension/protocol/job';
import { named, processName, rankFolder, runThere } from '../../../extension/capture/traces/jobFolder';
import { writeWhole } from '../../../extension/files/files';
import { rankIn } from '../../../extension/protocol/rank';
import { ACTIVATIONS, GB, largerBatch, leaks, makeJob, MB, visited } from './jobRanks';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const SEEDS = [1, 2, 3];
const NOW = 2e12;
const summaryOf = (all: readonly JobDifference[]): string[] =>
  all.map(({ kind, ranks }) => `${kind}: ${rankList(ranks)}`).sort();
const found = (ranks: readonly RankSummary[], writtenMs = NOW): FoundSummary[] =>
  ranks.map(summary => ({ key: `rank=${summary.rank}/${summary.pid}`, summary, writtenMs }));
const change = (
  ranks: readonly RankSummary[],
  of: (rank: number) => boolean,
  how: (rank: RankSummary) => RankSummary,
) => ranks.map(rank => (of(rank.rank ?? 0) ? how(rank) : rank));

test('of ranks that do the same, nothing is told, whatever their number and however they vary by a few percent', () => {
  for (const size of [1, 2, 3, 4, 8, 16, 64, 256])
    for (let seed = 1; seed <= Math.max(3, 200 / size); seed++)
      assert.deepEqual(jobDifferences(makeJob(size, seed, 0.03)), [], `${size} ranks, seed ${seed}`);
});

test('a leak, a larger batch, a stage that holds more and foreign processes on two hosts are told at once, each once', () => {
  for (const seed of SEEDS) {
    let ranks = makeJob(64, seed);
    ranks = change(
      ranks,
      rank => rank >= 32 && rank < 48,
      rank => largerBatch(rank, 1.5),
    );
    ranks = change(ranks, rank => rank === 37, leaks);
    ranks = change(
      ranks,
      rank => rank === 11,
      rank => largerBatch(rank, 1.8),
    );
    ranks = change(
      ranks,
      rank => [2, 5].includes(Math.floor(rank / 8)),
      rank => visited(rank, 6 * GB + (rank.rank ?? 0) * MB),
    );
    const all = jobDifferences(ranks);
    assert.deepEqual(summaryOf(all), ['foreign: 16–23, 40–47', 'growth: 37', 'peak: 11', 'peak: 32–47']);
    const [growth, stage, rank, foreign] = all;
    assertSentence(growth?.sentence);
    assert.ok(Math.abs((stage?.bytes ?? 0) / (14.5 * GB) - 1) < 0.15, String(stage?.bytes));
    assert.equal(stage?.lines[0]?.line, ACTIVATIONS);
    assertSentence(stage.sentence);
    assert.equal(rank?.lines[0]?.line, ACTIVATIONS);
    assert.ok(Math.abs(rank.bytes / (23.2 * GB) - 1) < 0.15, String(rank.bytes));
    assertSentence(foreign?.sentence);
  }
});

test('ranks that hold less are told too, and those with one cause together', () => {
  for (const seed of SEEDS) {
    const ranks = change(
      makeJob(64, seed),
      rank => [3, 18, 50].includes(rank),
      rank => largerBatch(rank, 0.3),
    );
    const [only, ...more] = jobDifferences(ranks);
    assert.deepEqual([only?.who, more], ['ranks 3, 18, 50', []]);
    assert.ok((only?.bytes ?? 0) < 0);
    assertSentence(only?.sentence);
  }
});

test('who is at the end of a row of ranks that each hold a little more is not apart', () => {
  const rising = (share: number) => (rank: RankSummary) => largerBatch(rank, 1 + (rank.rank ?? 0) * share);
  assert.deepEqual(jobDifferences(change(makeJob(24, 1, 0.002), rank => rank < 9, rising(0.018))), []);
  const [alone] = jobDifferences(change(makeJob(24, 1, 0.002), rank => rank === 8, rising(0.03)));
  assert.equal(alone?.who, 'rank 8 alone');
});

test('a stage in which one of two ranks is apart is not told as a whole', () => {
  const ranks = makeJob(8, 1).map((rank, i) => ({ ...rank, mesh: { pp: [i % 4, 4] as [number, number] } }));
  const all = jobDifferences(
    change(
      ranks,
      rank => rank === 6,
      rank => largerBatch(rank, 2),
    ),
  );
  assert.deepEqual(summaryOf(all), ['peak: 6']);
});

test('stages are compared with those of their role', () => {
  const ranks = makeJob(16, 1).map((rank, i) => {
    const staged = { ...rank, mesh: { pp: [i < 12 ? i % 3 : i - 12, 4] as [number, number] } };
    return i < 12 ? { ...staged, role: 'actor' } : largerBatch({ ...staged, role: 'critic' }, 0.2);
  });
  assert.deepEqual(jobDifferences(ranks), []);
});

test('where all ranks leak, that is one entry, and their peaks are none', () => {
  for (const seed of SEEDS) {
    const all = jobDifferences(makeJob(64, seed).map(rank => leaks(rank)));
    assert.deepEqual(summaryOf(all), ['growth: 0–63']);
    assertSentence(all[0]?.sentence);
  }
});

test('two ranks and one', () => {
  const two = jobDifferences(change(makeJob(2, 1), rank => rank === 1, leaks));
  assert.deepEqual(summaryOf(two), ['growth: 1']);
  assertSentence(two[0]?.sentence);
  assert.deepEqual(summaryOf(jobDifferences(makeJob(1, 1).map(rank => leaks(rank)))), ['growth: 0']);
  assert.deepEqual(summaryOf(jobDifferences(makeJob(2, 1).map(rank => leaks(rank)))), ['growth: 0, 1']);
  const batches = (factor: number): JobDifference[] =>
    jobDifferences(
      change(
        makeJob(2, 1),
        rank => rank === 1,
        rank => largerBatch(rank, factor),
      ),
    );
  assertSentence(batches(3)[0]?.sentence);
  assert.deepEqual(summaryOf(batches(1.1)), [], 'of two, each may be the usual one');
  const [held, leaking] = makeJob(2, 1) as [RankSummary, RankSummary];
  const [, aside] = jobDifferences([largerBatch(held, 1.6), leaks(leaking)]);
  assertSentence(aside?.sentence);
  const staged = makeJob(2, 1).map((rank, i) => ({ ...rank, mesh: { pp: [i, 2] as [number, number] } }));
  const [first, second] = staged as unknown as [RankSummary, RankSummary];
  assertSentence(jobDifferences([largerBatch(first, 3), second])[0]?.sentence);
});

test('the processes of one recording are of one run', () => {
  const [first, second] = makeJob(2, 1) as [RankSummary, RankSummary];
  const unlaunched = { ...second, run: '', rank: null, worldSize: null, localWorldSize: null };
  const runs = (some: RankSummary[]): string[] =>
    named(some, '/shared/run-x', 0).map(({ run, rank }) => `${run} ${rank}`);
  assert.deepEqual(runs([{ ...first, run: '' }, unlaunched]), ['run-x 0', 'run-x 2']);
  assert.deepEqual(runs([unlaunched, { ...first, run: '7' }]), ['job-7 2', 'job-7 0']);
  assert.deepEqual(runs([unlaunched]), ['run-x-19700101-000000 0']);
});

test('what is made again of a trace stays in the run that its files lie in', t => {
  const folder = mkdtempSync(join(tmpdir(), 'job-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [first, second] = makeJob(2, 1) as [RankSummary, RankSummary];
  writeWhole(join(rankFolder(folder, { ...second, run: 'old' }), `steps.${processName(second)}.parquet`), ['']);
  assert.deepEqual([runThere(folder, first), runThere(folder, second)], ['', 'old']);
  assert.equal(runThere(folder, { ...second, rank: null }), 'old');
});

test('the peak by step has as many steps in each column', () => {
  const [rank] = makeJob(1, 1) as [RankSummary];
  const last = [50, 90, 98, 99, 100];
  const series = { ...rank.series, last, peak: [8 * GB, 4 * GB, 4 * GB, 4 * GB, 4 * GB] };
  const job = jobView(found([{ ...rank, peakBytes: 8 * GB, series }]), NOW);
  assert.match(job === null ? '' : (jobLines(job).at(-1) ?? ''), / {2}███▄▄$/);
});

test('a program that begins MPI by itself names no job', () => {
  const env = (size: string) =>
    rankIn([
      ['PMIX_NAMESPACE', '1750597633'],
      ['OMPI_COMM_WORLD_SIZE', size],
    ]);
  assert.deepEqual([env('1').run, env('4').run, rankIn([['PMIX_NAMESPACE', '17']]).run], ['', '1750597633', '']);
});

test('a leak that ended in a failure is a leak', () => {
  const all = jobDifferences(
    change(
      makeJob(8, 1),
      rank => rank === 2,
      rank => leaks(rank, { verdict: 'oom', cause: 'leak' }),
    ),
  );
  assert.deepEqual(summaryOf(all), ['growth: 2']);
  const [row] = jobView(found([leaks(makeJob(1, 1)[0]!, { verdict: 'oom', cause: 'leak' })]), NOW)?.ranks ?? [];
  assert.equal(row?.leaks, 1);
});

test('foreign memory: on every GPU where it is much; never that of other ranks on the same GPU', () => {
  const everywhere = jobDifferences(makeJob(8, 1).map(rank => visited(rank, 10 * GB)));
  assert.deepEqual(summaryOf(everywhere), ['foreign: 0–7']);
  assert.deepEqual(jobDifferences(makeJob(8, 1).map(rank => visited(rank, 400 * MB))), []);
  const pair = makeJob(2, 1, 0).map(rank => ({ ...rank, gpu: 'GPU-one' }));
  const held = (pair[0]?.peakBytes ?? 0) + 480 * MB;
  assert.deepEqual(jobDifferences(pair.map(rank => visited(rank, held))), []);
});

test('ranks are named by what they have in common', () => {
  const ranks = makeJob(64, 1);
  const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
  assertSentence(groupText(numbers(16, 32), ranks));
  assertSentence(groupText(numbers(16, 32), ranks, 'host'));
  assertSentence(groupText(numbers(0, 32), ranks));
  assertSentence(groupText(numbers(8, 16), ranks));
  assert.equal(groupText(numbers(8, 15), ranks), 'ranks 8–14');
  assert.equal(rankList([1, 5, 6, 7, 8, 12, 13]), '1, 5–8, 12, 13');
  assertSentence(rankList(numbers(0, 40).map(i => 2 * i)));
});

test('missing, silent, failed and lossy ranks are noted', () => {
  const ranks = makeJob(8, 1).filter(({ rank }) => rank !== 2 && rank !== 5);
  const [first, second, third, ...rest] = ranks as [RankSummary, RankSummary, RankSummary];
  const files = [
    ...found([{ ...first, live: true, steps: 420 }], NOW - 20 * 60_000),
    ...found([{ ...second, live: true }], NOW - 30_000),
    ...found([{ ...third, exitCode: 137, lost: { events: 3, byCause: { budget: 3 } } }, ...rest], NOW - 3_600_000),
  ];
  const job = jobView(files, NOW);
  assert.ok(job);
  assertSentence(job.notes.join('\n'));
  const wrong = jobView(found([{ ...second, rank: 9 }]), NOW);
  assertSentence(wrong?.notes.join('\n'));
  assert.deepEqual(
    job.ranks.map(({ silent }) => silent),
    [true, false, false, false, false, false],
  );
  assert.deepEqual([job.worldSize, job.ranks.map(({ rank }) => rank)], [8, [0, 1, 3, 4, 6, 7]]);
});

test('of a rank that was started again the newest process counts, of its helpers none', () => {
  const [first, other] = makeJob(2, 1) as [RankSummary, RankSummary];
  const again = { ...first, pid: 5000, startedMs: first.startedMs + 3_700_000, peakBytes: first.peakBytes / 2 };
  const helper = { ...first, pid: 5001, startedMs: first.startedMs + 3_760_000, peakBytes: MB };
  const job = jobView(found([again, first, helper, other]), NOW);
  assert.deepEqual(
    job?.ranks.map(({ pid }) => pid),
    [5000, 4001],
  );
  assert.equal(job.runs[0]?.peakBytes, other.peakBytes);
});

test('of several runs the newest is shown, or the one that is named', () => {
  const old = makeJob(4, 1).map(rank => leaks({ ...rank, run: 'job-0', startedMs: 9e11, branch: 'try' }));
  const files = [...found(makeJob(4, 2)), ...found(old)];
  const job = jobView(files, NOW);
  assert.deepEqual([job?.run, job?.differences], ['job-1', []]);
  assert.deepEqual(
    job?.runs.map(({ run, ranks, bytesPerStep, place }) => [run, ranks, bytesPerStep, place]),
    [
      ['job-0', 4, 4 * MB, 'train.py:90'],
      ['job-1', 4, 0, ''],
    ],
  );
  assert.deepEqual(summaryOf(jobView(files, NOW, 'job-0')?.differences ?? []), ['growth: 0–3']);
  assert.equal(jobView(files, NOW, 'job-9'), null);
  assert.equal(jobView([], NOW), null);
});
