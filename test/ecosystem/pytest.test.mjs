// The plugin in pytest itself, alone and under pytest-xdist.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linesOf, sentencesOf } from '../sentences.mjs';
import { installed, jobs, liveTraces, reportOf, runPython, tensors } from './installed.mjs';

const { test, assertSentence } = sentencesOf(fileURLToPath(import.meta.url));

const MB = 1 << 20;
const place = installed({ beside: process.env.GMT_TORCH_PYTHON });
const run = (words, env = {}) =>
  runPython(place, ['-m', 'pytest', '-p', 'no:cacheprovider', '-rA', ...words, join(jobs, 'test_limits.py')], env);
const HELD = [
  'PASSED fits',
  'FAILED over',
  'FAILED replaces',
  'PASSED keeps_little',
  'FAILED leaks',
  'PASSED cycle',
  'PASSED filtered',
  'PASSED lost',
  'FAILED fails',
];

/** `PASSED fits`, as they stand in the file. */
function results({ stdout }) {
  const found = new Map([...stdout.matchAll(/^(PASSED|FAILED) \S*::test_(\w+)/gm)].map(([, how, name]) => [name, how]));
  return HELD.map(line => line.split(' ')[1]).map(name => `${found.get(name)} ${name}`);
}

/** What is told of one failed test; of that, the rows of lines. */
function failure({ stdout }, name) {
  const text = new RegExp(`^_+ test_${name} _+\n(?:\\[gw\\d\\].*\n)?([^]*?)^(?:_+|=+) `, 'm').exec(stdout)?.[1] ?? '';
  return text.replaceAll(`${jobs}/`, '').trim().split('\n');
}
const rowsOf = lines => lines.filter(line => /^ /.test(line));

test('limits hold for what a test itself allocates, and a failure shows the lines', () => {
  const ran = run(['--gpu-memtrace']);
  assert.deepEqual(results(ran), HELD, ran.stdout + ran.stderr);
  assert.deepEqual(rowsOf(failure(ran, 'over')), [
    '     2 MiB in 1     test_limits.py:29 test_over',
    '     1 MiB in 1     test_limits.py:28 test_over',
    '     512 B in 1     test_limits.py:30 test_over',
  ]);
  assert.deepEqual(rowsOf(failure(ran, 'leaks')), ['     3 MiB in 3     test_limits.py:55 test_leaks']);
  assert.match(failure(ran, 'replaces')[0], / 4 MiB /);
  for (const name of ['over', 'leaks']) assertSentence(failure(ran, name).join('\n'));
  assert.match(failure(ran, 'fails').join('\n'), /by itself/);
  assert.match(ran.stdout, /=\n +9 MiB {2}\S*::test_keeps_little\n/);
  assert.deepEqual(liveTraces(place), []);
});

test('under pytest-xdist each worker counts its own blocks', () => {
  const ran = run(['--gpu-memtrace', '-n', '3', '--gpu-memtrace-out', 'traces']);
  assert.deepEqual(results(ran), HELD, ran.stdout + ran.stderr);
  assert.equal(failure(ran, 'over')[1], '     2 MiB in 1     test_limits.py:29 test_over');
  const traces = readdirSync(join(place.folder, 'traces')).sort();
  assert.deepEqual(traces, ['gw0.gputrace', 'gw1.gputrace', 'gw2.gputrace']);
  const allocations = traces.map(name => tensors(reportOf(join(place.folder, 'traces', name))).allocations);
  const alone = run(['--gpu-memtrace', '--gpu-memtrace-out', 'alone']);
  assert.equal(alone.status, 1);
  const all = tensors(reportOf(join(place.folder, 'alone/pytest.gputrace'))).allocations;
  // Each worker imports the file, which allocates one block.
  assert.equal(
    allocations.reduce((sum, each) => sum + each),
    all + 2,
  );
  assert.deepEqual(liveTraces(place), []);
});

test('where events were lost a limit cannot be checked, and does not pass', () => {
  const ran = run(['--gpu-memtrace', '-k', 'lost or fits'], { GPU_MEMTRACE_BUDGET: String(MB), LOTS: '200000' });
  assertSentence(failure(ran, 'lost')[0].replace(/\d+/g, 'N'), ran.stdout);
  assert.match(ran.stdout, /^PASSED \S*::test_fits/m);
});

test('where CUDA came first, pytest says so and runs no test', () => {
  writeFileSync(join(place.folder, 'early.py'), 'import gpu\ngpu.empty(512)\n');
  const ran = run(['--gpu-memtrace', '-p', 'early'], {
    PYTHONPATH: `${place.folder}:${join(jobs, '../../workloads')}`,
  });
  assertSentence(linesOf(ran.stderr, /--gpu-memtrace/));
  assert.equal(ran.status, 4);
});

test('a limit that names no size is refused', () => {
  writeFileSync(
    join(place.folder, 'test_words.py'),
    'import pytest\n@pytest.mark.limit_gpu_memory("2 potatoes")\ndef test_it():\n    import gpu\n    gpu.empty(512)\n',
  );
  const ran = runPython(place, ['-m', 'pytest', '--gpu-memtrace', 'test_words.py']);
  assert.equal(ran.status, 1);
  assertSentence(linesOf(ran.stdout, /^limit_gpu_memory.*'2 potatoes'/));
});

test('without --gpu-memtrace the markers are known, and do nothing', () => {
  const ran = run(['--strict-markers', '-k', 'not fails']);
  assert.equal(ran.status, 0, ran.stdout);
  assert.doesNotMatch(ran.stdout, /GPU memory/);
  assert.ok(readFileSync(join(jobs, 'test_limits.py'), 'utf8').includes('limit_gpu_memory'));
});

test('with GPU_MEMTRACE=1 the program’s own trace goes on, and pytest has nothing to warn of', () => {
  const trace = join(place.folder, 'own.gputrace');
  const ran = run(['-W', 'error', '--gpu-memtrace'], { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: trace });
  assert.deepEqual(results(ran), HELD, ran.stdout + ran.stderr);
  assert.doesNotMatch(ran.stderr, /could not be saved/);
  assert.ok(reportOf(trace).totals.length > 0);
});

test('a limit on no layer, and one that is no size, fail with a sentence; limits of tests without a GPU are reported', () => {
  const file = join(place.folder, 'test_wrong.py');
  writeFileSync(
    file,
    `import pytest
@pytest.mark.limit_gpu_memory("1 GB", layer="tensr")
def test_layer(): pass
@pytest.mark.limit_gpu_leaks("2 XB")
def test_size(): pass
@pytest.mark.limit_gpu_memory("1 GB")
def test_idle(): pass
`,
  );
  const { stdout } = runPython(place, ['-m', 'pytest', '-p', 'no:cacheprovider', '-rA', '--gpu-memtrace', file], {});
  assertSentence(linesOf(stdout, /^limit_gpu_|\b3 tests\b/));
});

test('a test that fails by itself and is over its limit shows both', () => {
  const file = join(place.folder, 'test_both.py');
  writeFileSync(
    file,
    `import pytest
@pytest.mark.limit_gpu_memory("1 MB")
def test_both():
    import gpu
    kept = gpu.empty(2 << 20)
    assert kept is None, "by itself"
@pytest.mark.limit_gpu_memory("1 MB")
def test_skipped():
    import gpu
    kept = gpu.empty(2 << 20)
    pytest.skip("not here")
`,
  );
  const { stdout } = runPython(place, ['-m', 'pytest', '-p', 'no:cacheprovider', '-rA', '--gpu-memtrace', file]);
  const shown = failure({ stdout }, 'both').join('\n');
  assert.match(shown, /AssertionError: by itself/);
  assert.match(shown, /^\S.* 2 MiB .* 1 MiB more than .* 1 MiB\.$/m);
  assert.match(shown, /^ +2 MiB in 1 +\S*test_both\.py:5 test_both$/m);
  assert.match(stdout, /1 failed, 1 skipped/);
});

test('--gpu-memtrace-out alone keeps nothing, and says so', () => {
  const ran = run(['--gpu-memtrace-out', 'unkept', '-k', 'fits']);
  assert.equal(ran.status, 0);
  assertSentence(linesOf(ran.stdout, /^gpu-memtrace:/));
  assert.equal(existsSync(join(place.folder, 'unkept')), false);
});

test('the traceback of a test that fails has no frame of the plugin', () => {
  const file = join(place.folder, 'test_native.py');
  writeFileSync(file, 'def test_it():\n    raise RuntimeError("of its own")\n');
  const { stdout } = runPython(place, [
    '-m',
    'pytest',
    '-p',
    'no:cacheprovider',
    '--tb=native',
    '--gpu-memtrace',
    file,
  ]);
  assert.match(stdout, /RuntimeError: of its own/);
  assert.doesNotMatch(stdout, /pytest_plugin\.py/);
});
