// The callbacks in transformers' Trainer and in Lightning, with PyTorch's CPU tensors in the place of a GPU's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installed, jobs, learned, marksOf, reportOf, runPython, tensors } from './installed.mjs';

const place = installed({ beside: process.env.GMT_TRAINERS_PYTHON });
const NAMES = ['live', 'outside', 'peak', 'reserved'].map(name => `gpu_memory/${name}`);
const inherited = ['GPU_MEMTRACE_AGENT_DEVICES', 'GMT_AS_GPU', 'GMT_AS_GPU_BYTES', 'OMP_NUM_THREADS', 'PYTHONPATH'];
const standIn = Object.fromEntries(inherited.map(name => [name, process.env[name]]));

function run(job, words, trace) {
  const recorded = trace ? { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: trace } : {};
  const ran = runPython(place, [join(jobs, `${job}.py`), ...words], { ...standIn, ...recorded });
  assert.equal(ran.status, 0, ran.stderr);
  return { ...JSON.parse(ran.stdout.trim().split('\n').at(-1)), stderr: ran.stderr };
}
const marks = trace => marksOf(join(place.folder, trace));

test("transformers' Trainer: marks, figures in its log and in TensorBoard, and the same results", () => {
  const plain = run('hf_trainer', ['plain']);
  const traced = run('hf_trainer', ['traced'], 'hf.gputrace');
  assert.deepEqual(learned(traced.log), learned(plain.log));
  const logged = traced.log.filter(entry => 'gpu_memory/live' in entry);
  assert.deepEqual(
    logged.map(({ step }) => step),
    [4, 6, 8, 12, 12, 12],
  );
  const report = reportOf(join(place.folder, 'hf.gputrace'));
  assert.equal(report.steps.count, 12);
  assert.equal(logged.at(-1)['gpu_memory/peak'], tensors(report).peakBytes);
  assert.deepEqual(
    report.findings.filter(({ verdict }) => verdict === 'leak'),
    [],
  );
  assert.deepEqual(marks('hf.gputrace'), [
    'training',
    'evaluation at step 6',
    'evaluated at step 6',
    'saved at step 6',
    'evaluation at step 12',
    'evaluated at step 12',
    'saved at step 12',
  ]);
  const code = `
import glob
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(glob.glob("traced/runs/*")[0]); events.Reload()
print([each.value for each in events.Scalars("train/gpu_memory/peak")][-1])`;
  const told = execFileSync(process.env.GMT_TRAINERS_PYTHON, ['-c', code], { cwd: place.folder, encoding: 'utf8' });
  assert.equal(Number(told), Math.fround(tensors(report).peakBytes));
});

test('Lightning: marks, figures in its logger, and the same results', () => {
  const plain = run('lightning_fit', ['plain']);
  const traced = run('lightning_fit', ['traced'], 'fit.gputrace');
  assert.deepEqual(traced.losses, plain.losses);
  const [head, ...rows] = readFileSync(join(place.folder, 'traced/version_0/metrics.csv'), 'utf8').trim().split('\n');
  const columns = head.split(',');
  assert.deepEqual(
    columns.filter(name => name.startsWith('gpu_memory/')),
    NAMES,
  );
  const at = name => columns.indexOf(name);
  const logged = rows.map(row => row.split(',')).filter(row => row[at('gpu_memory/live')]);
  assert.deepEqual(
    logged.map(row => row[at('step')]),
    ['4', '8', '12', '16'],
  );
  const report = reportOf(join(place.folder, 'fit.gputrace'));
  assert.equal(report.steps.count, 16);
  assert.equal(Number(logged.at(-1)[at('gpu_memory/peak')]), tensors(report).peakBytes);
  assert.deepEqual(marks('fit.gputrace').slice(-3), [
    'evaluation at step 16',
    'evaluated at step 16',
    'saving at step 16',
  ]);
  assert.ok(marks('fit.gputrace').includes('training'));
});

test('Lightning: a module that keeps its losses is found, with who holds them', () => {
  run('lightning_fit', ['traced', 'leak'], 'leak.gputrace');
  const [leak] = reportOf(join(place.folder, 'leak.gputrace')).findings;
  assert.equal(leak?.verdict, 'leak');
  assert.match(leak.holder.path, /history/);
});

test('a callback in a program that is not recorded warns once, and logs nothing', () => {
  const { losses, stderr } = run('lightning_fit', ['traced']);
  assert.ok(losses.length > 0);
  assert.match(stderr, /GpuMemtraceCallback: .*GPU_MEMTRACE=1/);
});

test('tensors are recorded where CUDA was there before PyTorch', () => {
  const { metrics, line } = run('cuda_first', ['first.gputrace']);
  const bytes = 11 * Math.ceil((4 * 1000 * 1000) / 512) * 512;
  assert.ok(
    metrics['gpu_memory/live'] >= bytes && metrics['gpu_memory/live'] < bytes + 100_000,
    JSON.stringify(metrics),
  );
  assert.equal(line, 15);
});
