// The Python package on a real GPU: its figures are PyTorch's own, its limits hold, its callbacks change no result. The wheel is
// that of $GMT_WHEEL, else it is made.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { installed, jobs, learned, makeWheel, marksOf, reportOf, runPython } from '../ecosystem/installed.mjs';
import { assertTensorLayer } from './layer.mjs';
import { jobFile, python } from './traced.mjs';

const base = execFileSync(python, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
process.env.GMT_TORCH_PYTHON = base;
process.env.GMT_WHEEL ??= await makeWheel(base, mkdtempSync(join(tmpdir(), 'gpu-memtrace-wheel-')));
const place = installed({ beside: base });
const inPlace = name => join(place.folder, name);
const lacks = module => (spawnSync(base, ['-c', `import ${module}`]).status === 0 ? false : `no ${module} here`);

function run(file, words, trace) {
  const recorded = trace ? { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: trace } : {};
  const ran = runPython(place, [file, ...words], { CUBLAS_WORKSPACE_CONFIG: ':4096:8', ...recorded }, process.env);
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  return JSON.parse(ran.stdout.trim().split('\n').at(-1));
}

function assertMetrics({ metrics, stats }) {
  assert.equal(metrics['gpu_memory/live'], stats['allocated_bytes.all.current'], 'live');
  assert.equal(metrics['gpu_memory/peak'], stats['allocated_bytes.all.peak'], 'peak');
  assert.equal(metrics['gpu_memory/reserved'], stats['reserved_bytes.all.current'], 'reserved');
  assert.ok(metrics['gpu_memory/outside'] >= 0);
}

test('a Tracker, where CUDA was there before PyTorch', () => {
  assertMetrics(run(join(jobs, 'cuda_first.py'), ['order.gputrace']));
  assert.ok(reportOf(inPlace('order.gputrace')).totals.some(({ layer }) => layer === 'driver'));
});

for (const [module, job, results] of [
  ['transformers', 'hf_trainer', ({ log }) => learned(log)],
  ['lightning', 'lightning_fit', ({ losses }) => losses],
]) {
  test(`${module} with the callback`, { skip: lacks(module) }, () => {
    const plain = run(join(jobs, `${job}.py`), ['plain']);
    const traced = run(join(jobs, `${job}.py`), ['traced'], `${job}.gputrace`);
    assert.deepEqual(results(traced), results(plain));
    assertMetrics(traced);
    const report = reportOf(inPlace(`${job}.gputrace`));
    assertTensorLayer(report, nested(traced.stats));
    assert.deepEqual(
      report.findings.filter(({ verdict }) => verdict === 'leak'),
      [],
    );
    assert.ok(marksOf(inPlace(`${job}.gputrace`)).includes('evaluation at step 12') || module === 'lightning');
  });
}

/** `allocation.all.current` as `['allocation.all'].current`. */
function nested(stats) {
  const found = {};
  for (const [name, value] of Object.entries(stats)) {
    const [, group, last] = /^(.*)\.(\w+)$/.exec(name) ?? [];
    if (group) (found[group] ??= {})[last] = value;
  }
  return found;
}

test('a leak in a Lightning module is found', { skip: lacks('lightning') }, () => {
  run(join(jobs, 'lightning_fit.py'), ['traced', 'leak'], 'leak.gputrace');
  const [leak] = reportOf(inPlace('leak.gputrace')).findings;
  assert.equal(leak?.verdict, 'leak');
  assert.match(leak.holder.path, /history/);
});

for (const words of [[], ['-n', '2']]) {
  const skip = lacks('pytest') || (words.length > 0 && lacks('xdist'));
  test(`pytest ${words.join(' ')}`, { skip }, () => {
    const flags = ['-m', 'pytest', '--gpu-memtrace', '-rA', '-p', 'no:cacheprovider', ...words];
    const { stdout } = runPython(place, [...flags, jobFile('package_limits')], {}, process.env);
    const found = [...stdout.matchAll(/^(PASSED|FAILED) \S*::test_(\w+)/gm)].map(([, how, name]) => `${how} ${name}`);
    assert.deepEqual(found.sort(), ['FAILED leaks', 'FAILED over', 'PASSED fits', 'PASSED matmul'], stdout);
    assert.match(stdout, /^ *124 MiB in 2 /m);
    assert.match(stdout, /^ *6 MiB in 3 .*package_limits\.py:11 tensor/m);
    assert.doesNotMatch(stdout, /simulated/);
  });
}
