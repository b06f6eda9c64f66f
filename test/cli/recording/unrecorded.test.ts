// Recordings that never began say why; --max-steps ends a run in order; what lies in the working directory is not run; secrets stay.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import type { NativeAddon } from '../../../extension/native/addon';
import { DRIVER_SCRIPT, Place, python, root, workload, type Report } from '../launcher';
import { withoutNumbers } from '../../masked.mjs';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const agentTests = join(root, 'test/native/agent/programs');

for (const words of ['--start paused', '--start-at step:1000', '--start-when reserved>70GB'])
  test(`${words}: why nothing was recorded`, async t => {
    const place = new Place(t);
    const job = place.write('job.py', `${DRIVER_SCRIPT}alloc(4096)\n`);
    const run = await place.run(['run', '--simulate-gpu', ...words.split(' '), '-o', 'x.gputrace', '--', python, job]);
    assert.equal(run.status, 0);
    assertSentence(linesOf(run.stderr, /^Nothing/));
    assert.doesNotMatch(run.stderr, /allocated nothing/);
  });

test('--max-steps ends a program in order', async t => {
  const place = new Place(t);
  const words = ['--', python, workload('train_simulator'), '--epochs', '100000', '--sleep-ms', '2'];
  const run = await place.run(['run', '--simulate-gpu', '--max-steps', '30', '-o', 'x.gputrace', ...words]);
  assert.equal(run.status, 0, run.stderr);
  assertSentence(withoutNumbers(linesOf(run.stderr, /--max-steps/)));
});

const LEAK = `import os, signal
import torch, tracing
kept = []
assert tracing.begin()
optimizer = torch.optim.Optimizer()
for step in range(60):
    tracing.report(0x100000 + 0x1000 * step, 512)
    kept.append(torch.Tensor(0x100000 + 0x1000 * step))
    optimizer.step()
`;
for (const start of [[], ['--start-at', 'step:10']])
  test(`--max-steps ends a program that steps quickly after exactly so many, ${start.join(' ')}`, async t => {
    const place = new Place(t);
    const job = place.write('job.py', LEAK.replace('range(60)', 'range(10**9)'));
    const env = { PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}`, GPU_MEMTRACE_AGENT_DEVICES: 'all' };
    const words = ['--max-steps', '30', ...start, '-o', 'x.gputrace', '--', python, job];
    const run = await place.run(['run', '--simulate-gpu', ...words], env);
    assert.equal(run.status, 0, run.stderr);
    assertSentence(linesOf(run.stderr, /--max-steps/));
  });

for (const [how, last, status, words] of [
  [
    'by Ctrl+C has its own status, though who holds its leak is looked for then',
    'os.kill(os.getpid(), signal.SIGINT)',
    130,
    [],
  ],
  [
    'by --max-steps has none, whatever it makes of Ctrl+C',
    'try: signal.pause()\nexcept KeyboardInterrupt: raise SystemExit(1)',
    0,
    ['--max-steps', '40'],
  ],
] as const)
  test(`a program that is ended ${how}`, async t => {
    const place = new Place(t);
    const job = place.write('job.py', `${LEAK}${last}\n`);
    const env = { PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}`, GPU_MEMTRACE_AGENT_DEVICES: 'all' };
    const run = await place.run(['run', '--simulate-gpu', ...words, '-o', 'x.gputrace', '--', python, job], env);
    assert.equal(run.status, status, run.stderr);
    assert.match(run.stderr, /Held by/);
  });

test('a program that ends before --max-steps keeps its status', async t => {
  const place = new Place(t);
  const run = await place.run([
    'run',
    '--simulate-gpu',
    '--max-steps',
    '30',
    '--',
    python,
    '-c',
    'raise SystemExit(130)',
  ]);
  assert.equal(run.status, 130);
});

test('no Python that is started takes a module from the working directory', async t => {
  const place = new Place(t);
  for (const name of ['ipykernel', 'duckdb', 'csv', 'site', 'sitecustomize'])
    place.write(`${name}.py`, `open(${JSON.stringify(place.path('was-run'))}, 'a').write('${name}')\n`);
  mkdirSync(place.path('job/run=1/rank=0'), { recursive: true });
  place.write('job/run=1/rank=0/ranks.1.parquet', '');
  const env = { PYTHONPATH: '.', HOME: place.folder };
  await place.run(['kernel', 'install', '--python', python], env);
  await place.run(['sql', 'job', 'select 1 from ranks'], env);
  await place.run(['doctor'], env);
  assert.ok(!existsSync(place.path('was-run')), 'a module of the working directory was run');
});

test('sql of a job without tables', async t => {
  const place = new Place(t);
  mkdirSync(place.path('job/run=1/rank=0'), { recursive: true });
  const { status, stderr } = await place.run(['sql', 'job', 'select 1 from ranks']);
  assert.equal(status, 1);
  assertSentence(stderr);
});

const SECRET = 'q8Zr1xPw93LmT0vB';
test('secrets of a command line are in no report, and the document of a failure is for this user alone', async t => {
  const place = new Place(t);
  const folder = JSON.stringify(dirname(workload('gpu')));
  const job = place.write(
    'job.py',
    `import sys\nsys.path.insert(0, ${folder})\nimport gpu\nkept = []\nwhile True:\n    kept.append(gpu.empty(1 << 20))\n`,
  );
  const words = [python, job, '--token', SECRET, `--api-key=${SECRET}`, `https://me:${SECRET}@host/`];
  const run = await place.run(['run', '--simulate-gpu', '--report', 'x.json', '-o', 'x.gputrace', '--', ...words], {
    GPU_MEMTRACE_SIM_MEMORY: '64MiB',
  });
  const written = [run.stderr, readFileSync(place.path('x.json'), 'utf8')];
  for (const format of ['json', 'perfetto', 'csv', 'pytorch-snapshot'])
    written.push((await place.run(['report', 'x.gputrace', '--format', format])).stdout);
  written.push((await place.run(['report', 'x.gputrace', '--oom'])).stdout);
  const documents = readdirSync(place.folder).filter(name => /^oom-.*\.md$/.test(name));
  assert.equal(documents.length, 1);
  for (const name of documents) {
    written.push(readFileSync(place.path(name), 'utf8'));
    assert.equal(statSync(place.path(name)).mode & 0o777, 0o600);
  }
  assert.ok(place.readJson<Report & { command: string[] }>('x.json').command.includes('***'));
  const native = { exports: {} as NativeAddon };
  process.dlopen(native, join(root, 'dist/native/gpu_memory_trace.node')); // as it lies in the file
  written.push(inspect(native.exports.open(place.path('x.gputrace')).info(), { depth: null, breakLength: Infinity }));
  for (const text of written) assert.ok(!text.includes(SECRET), text.slice(0, 400));
});
