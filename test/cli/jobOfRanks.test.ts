// A job of some ranks on the simulated GPU: its folder, what differs, and what goes wrong with it.
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobView } from '../../extension/protocol/job';
import { Place, python, root } from './launcher';
import { withoutNumbers } from '../masked.mjs';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const SCRIPT = `import os, sys, time
sys.path.insert(0, ${JSON.stringify(join(root, 'test/workloads'))})
import gpu
kept = []
for step in range(40):
    batch = [gpu.empty(4 * gpu.MIB) for _ in range(6)]
    if os.environ["RANK"] == "1":
        kept.append(gpu.empty(gpu.MIB))
    time.sleep(0.003)
`;

async function record(place: Place, rank: number, ...more: string[]): Promise<void> {
  const script = place.write('rank.py', SCRIPT);
  const env = { RANK: String(rank), WORLD_SIZE: '4', SLURM_JOB_ID: '7' };
  const how = ['run', '--simulate-gpu', '--format', 'none', '-o', 'run-%j/', ...more, '--', python, script];
  const { status, stderr } = await place.run(how, env);
  assert.deepEqual([status, stderr], [0, '']);
}

test('ranks gather in a folder: who leaks, who is missing; a damaged summary and a lost one are made again', async t => {
  const place = new Place(t);
  for (const rank of [0, 1, 2]) await record(place, rank);
  const report = async (...more: string[]): Promise<string> => (await place.run(['report', 'run-7', ...more])).stdout;
  const text = await report();
  assert.match(text, /^LEAK: .* 1(\.\d+)? MiB .* rank\.py:8/m);
  assertSentence(linesOf(text, /^(Job|The GPU|No data)/));
  assertSentence(withoutNumbers(linesOf(text, /^LEAK/)));
  assert.equal(await report('--run', '7'), text, 'as the launcher calls it');
  const job = JSON.parse(await report('--format', 'json')) as JobView;
  assert.deepEqual(
    job.ranks.map(({ rank, live, exitCode }) => [rank, live, exitCode]),
    [0, 1, 2].map(rank => [rank, false, 0]),
  );
  assert.deepEqual(
    job.differences.map(({ kind, ranks }) => [kind, ranks]),
    [['growth', [1]]],
  );
  for (const { trace } of job.ranks) assert.match(trace ?? '', /^traces\/.*\.gputrace$/);
  const folder = (rank: number): string => place.path('run-7/run=job-7', `rank=${rank}`);
  const summary = (rank: number): string => readdirSync(folder(rank)).find(name => name.startsWith('summary')) ?? '';
  writeFileSync(join(folder(0), summary(0)), '{"version":1,"rank":"x"}');
  rmSync(join(folder(2), summary(2)));
  const again = await report();
  assertSentence(linesOf(again, /^(?!LEAK).*summary/).replace(/summary\S+json/, 'summary.json'));
  assert.equal(linesOf(again, /^LEAK/), linesOf(text, /^LEAK/));
  assert.deepEqual(
    readdirSync(folder(2)).filter(name => name.startsWith('summary')),
    [],
    'a report writes nothing',
  );
  await place.run(['sql', 'run-7', 'peak_by_rank', '--print']);
  assert.equal(await report(), text, 'for SQL the traces made both whole');
});

test('the tables of one trace, with every allocation', async t => {
  const place = new Place(t);
  await record(place, 1);
  const [name = ''] = readdirSync(place.path('run-7/traces'));
  const { status, stderr } = await place.run(['report', `run-7/traces/${name}`, '--format', 'parquet', '-o', 'all/']);
  assert.deepEqual([status, stderr], [0, '']);
  const files = readdirSync(place.path('all/run=job-7/rank=1')).map(file => file.split('.')[0]);
  const tables = ['allocations', 'events', 'findings', 'ranks', 'runs', 'site_steps', 'stacks', 'steps', 'summary'];
  assert.deepEqual(files.sort(), tables);
});

test('what cannot be done with a job is one sentence', async t => {
  const place = new Place(t);
  await record(place, 0);
  for (const [words, status] of [
    [['run', '-o', '/proc/none/', '--', 'true'], 125],
    [['run', '-o', 'x/', '--ranks', '1-', '--', 'true'], 2],
    [['run', '--ranks', '0', '-o', 'x.gputrace', '--', 'true'], 2],
    [['run', '--simulate-gpu', '--format', 'none', '-o', 'x/', '--ranks', '0', '--', 'env', 'torchrun'], 127],
    [['report', 'run-7', '--run', 'other'], 1],
    [['report', 'run-7', '--format', 'csv'], 2],
    [['report', 'run-7', '--at', '50%'], 2],
    [['sql', '.', 'peak_by_rank'], 1],
    [['sql', 'run-7', 'nothing'], 2],
  ] as const) {
    const ended = await place.run([...words]);
    assert.deepEqual([ended.status, ended.stdout], [status, ''], words.join(' '));
    assertSentence(linesOf(ended.stderr, /^gpu-memtrace: /));
  }
});
