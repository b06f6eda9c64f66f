// The wheel: it installs anywhere, and records without Node.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sentencesOf } from '../sentences.mjs';
import { cli, installed, jobs, linkCheck, liveTraces, marksOf, reportOf, runPython, tensors } from './installed.mjs';

const { test, assertSentence } = sentencesOf(fileURLToPath(import.meta.url));
const MB = 1 << 20;
const place = installed();
const job = name => join(jobs, `${name}.py`);
const run = (name, words = [], env = {}) => runPython(place, [job(name), ...words], env);
const inPlace = name => join(place.folder, name);

test('the wheel has the tag of its platform, and nothing in it needs more than that', () => {
  const { stdout: machine } = runPython(place, ['-c', 'import platform; print(platform.machine(), end="")']);
  const [, platform] = /^gpu_memtrace-\d+\.\d+\.\d+-py3-none-manylinux_2_28_(\w+)\.whl$/.exec(
    basename(process.env.GMT_WHEEL),
  );
  assert.equal(platform, machine);
  const native = join(place.packages, 'gpu_memtrace/native');
  assert.deepEqual(readdirSync(native).sort(), ['gpu-memtrace-recorder', 'libgpumemtrace.so']);
  const listed = execFileSync(place.python, ['-m', 'zipfile', '-l', process.env.GMT_WHEEL], { encoding: 'utf8' });
  const names = [...listed.matchAll(/^(\S+) +\d{4}-/gm)].map(([, name]) => name);
  assert.ok(names.includes('gpu_memtrace/native/libgpumemtrace.so'), listed);
  const allowed =
    /^gpu_memtrace(\/.*(\.py|\.typed|native\/[\w.-]+)|\/docs\/[\w/-]+\.(md|sh|yml)|\.pth|-[\d.]+\.dist-info\/.*)$/;
  assert.deepEqual(
    names.filter(name => !allowed.test(name) || /simulator|sample|libcu/.test(name)),
    [],
  );
  const read = name =>
    execFileSync('readelf', ['-W', '--dyn-syms', '-d', '-S', join(native, name)], { encoding: 'utf8' });
  const library = read('libgpumemtrace.so');
  const versions = [...library.matchAll(/@GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  assert.ok(versions.length > 0 && Math.max(...versions) <= 28, `glibc 2.${Math.max(...versions)}`);
  assert.match(read('gpu-memtrace-recorder'), /There is no dynamic section/);
  assert.doesNotMatch(library, /\.debug_info/);
  assert.ok(statSync(join(native, 'gpu-memtrace-recorder')).mode & 0o111);
});

test('the manual is in the wheel, and each of its links leads somewhere there', () => {
  const pages = join(place.packages, 'gpu_memtrace/docs');
  assert.ok(existsSync(join(pages, 'python.md')));
  const { stdout } = spawnSync(process.execPath, [linkCheck, pages], { encoding: 'utf8' });
  assert.equal(stdout, '');
});

test('the same files give the same wheel', async () => {
  const { makeWheel } = await import('./installed.mjs');
  const again = await makeWheel(process.env.GMT_TORCH_PYTHON, inPlace('again'));
  assert.equal(spawnSync('cmp', [again, process.env.GMT_WHEEL]).status, 0);
});

test('a Tracker saves what its block did, and tells it exactly', () => {
  const { status, stdout, stderr } = run('tracked', ['x.gputrace']);
  assert.equal(status, 0, stderr);
  const told = JSON.parse(stdout);
  assert.equal(told.peak, 15 * MB);
  assert.deepEqual(told.alive, [[10 * MB, 10, 13]]);
  const tensor = told.uses.find(({ layer }) => layer === 'tensor');
  assert.deepEqual([tensor.live, tensor.blocks, tensor.device], [10 * MB, 10, 0]);
  const driver = told.uses.find(({ layer }) => layer === 'driver');
  const metrics = ['live', 'peak', 'reserved', 'outside'].map(name => told.metrics[`gpu_memory/${name}`]);
  assert.deepEqual(metrics, [10 * MB, 15 * MB, driver.live, 0]);
  const report = reportOf(inPlace('x.gputrace'));
  assert.deepEqual(tensors(report), { liveBytes: 10 * MB, peakBytes: 15 * MB, allocations: 11, frees: 1 });
  assert.deepEqual([report.steps.count, report.steps.source], [3, 'program']);
  assert.deepEqual(marksOf(inPlace('x.gputrace')), ['before CUDA', 'before eval']);
  assert.equal(tensors(reportOf(inPlace('x.gputrace2'))).liveBytes, 12 * MB);
  assert.equal(told.warned, 0);
  assert.deepEqual(liveTraces(place), []);
});

test('GPU_MEMTRACE=1 records a program and those that it starts, and changes nothing for it', () => {
  const env = { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: 'p.gputrace' };
  const { status, stdout, stderr } = run('plain', ['child', 'fork'], env);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, 'no child\nno child\n');
  assert.equal(stderr, `gpu-memtrace: ${inPlace('p.gputrace')}\n`);
  const report = reportOf(inPlace('p.gputrace'));
  const live = report.totals.filter(({ layer }) => layer === 'tensor').map(({ liveBytes }) => liveBytes);
  assert.deepEqual(
    live.filter(bytes => bytes > 0),
    [3 * MB, 3 * MB],
  );
  assert.deepEqual(liveTraces(place), []);
});

test('a program that is killed leaves its trace', async () => {
  const { signal } = run('plain', ['kill'], { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: 'k.gputrace' });
  assert.equal(signal, 'SIGKILL');
  while (liveTraces(place).length > 0) await pause(50);
  assert.equal(tensors(reportOf(inPlace('k.gputrace'))).liveBytes, 3 * MB);
});

test('a program that is killed in a Tracker leaves its trace, behind it the trace of the block', async () => {
  const code = when => `import os, gpu_memtrace
with gpu_memtrace.Tracker("${when}.gputrace"):
    import gpu; kept = gpu.empty(3 << 20)
    if "${when}" == "in": os.kill(os.getpid(), 9)
kept = gpu.empty(5 << 20), kept
os.kill(os.getpid(), 9)`;
  for (const when of ['in', 'behind']) {
    assert.equal(runPython(place, ['-c', code(when)]).signal, 'SIGKILL');
    while (liveTraces(place).length > 0) await pause(50);
    assert.equal(tensors(reportOf(inPlace(`${when}.gputrace`))).liveBytes, 3 * MB);
  }
});

test('what uses no GPU leaves no trace, which is said in a line; without GPU_MEMTRACE nothing is recorded or said', () => {
  const told = (env, words = ['idle'], on = undefined) => {
    const job = runPython(place, [join(jobs, 'plain.py'), ...words], { GPU_MEMTRACE_OUT: 'n.gputrace', ...env }, on);
    assert.equal(job.status, 0);
    return job.stderr;
  };
  const nothing = told({ GPU_MEMTRACE: '1' });
  assertSentence(nothing);
  const real = told({ GPU_MEMTRACE: '1' }, ['idle'], { PATH: process.env.PATH });
  assert.equal(real !== nothing, !existsSync('/dev/nvidiactl') && !existsSync('/dev/dxg'), real);
  for (const yes of ['yes', 'True', 'on']) assert.equal(told({ GPU_MEMTRACE: yes }), nothing, yes);
  for (const no of ['', '0', 'no', 'False', 'off']) assert.equal(told({ GPU_MEMTRACE: no }), '', no);
  assertSentence(told({ GPU_MEMTRACE: 'please' }));
  assert.equal(told({}, []), '');
  assert.equal(existsSync(inPlace('n.gputrace')), false);
  assert.deepEqual(liveTraces(place), []);
});

test('where CUDA came first, that is said, with what to do', () => {
  const { status, stdout, stderr } = run('late');
  assert.equal(status, 0, stderr);
  const [before, said] = stdout.trim().split('\n');
  assert.equal(before, 'False {}');
  assertSentence(said);
  assert.equal(existsSync(inPlace('late.gputrace')), false);
});

test('a process of a trace that does not see it is told so', () => {
  const { stdout } = run('late', [], { GPU_MEMTRACE_DIR: place.folder });
  const [before, said] = stdout.trim().split('\n');
  assert.equal(before, 'False {}');
  assertSentence(said);
});

test('under gpu-memtrace run, a Tracker saves and tells of that trace', () => {
  const words = [
    'run',
    '--simulate-gpu',
    '--format',
    'none',
    '-o',
    inPlace('run.gputrace'),
    '--',
    place.python,
    job('tracked'),
  ];
  const env = {
    ...process.env,
    XDG_CACHE_HOME: inPlace('cache'),
    XDG_RUNTIME_DIR: '',
    PYTHONPATH: join(jobs, '../../workloads'),
  };
  const ran = spawnSync(process.execPath, [cli, ...words, inPlace('part.gputrace')], { encoding: 'utf8', env });
  assert.equal(ran.status, 0, ran.stderr);
  const told = JSON.parse(ran.stdout);
  assert.deepEqual([told.peak, told.alive], [15 * MB, [[10 * MB, 10, 13]]]);
  assert.equal(tensors(reportOf(inPlace('part.gputrace'))).liveBytes, 10 * MB);
  assert.equal(reportOf(inPlace('run.gputrace')).steps.count, 3);
  assert.deepEqual(marksOf(inPlace('part.gputrace')), ['before CUDA', 'before eval']);
});

test('an unknown layer is an error, not an empty one', () => {
  const code = `import gpu_memtrace
with gpu_memtrace.Tracker("layer.gputrace") as t:
    import gpu
    kept = gpu.empty(512)
    for ask in (t.peak, t.alive):
        try: print(ask("tensr"))
        except ValueError as error: print(error)`;
  const [one, other] = runPython(place, ['-c', code]).stdout.split('\n');
  assertSentence(one);
  assert.equal(other, one);
});

test('python -m gpu_memtrace records a script; alone it says what it is, where, and how to use it', () => {
  const main = (...words) => runPython(place, ['-m', 'gpu_memtrace', ...words]);
  const { status, stdout } = main();
  assert.equal(status, 0);
  const version = /^gpu_memtrace-([\d.]+)-/.exec(basename(process.env.GMT_WHEEL))[1];
  assert.ok(stdout.startsWith(`gpu-memtrace ${version} in ${join(place.packages, 'gpu_memtrace')}\n`), stdout);
  assertSentence(stdout.slice(stdout.indexOf('\n') + 1));
  assert.equal(main('--help').stdout, stdout);
  const ran = main('-o', 'main.gputrace', job('plain'), 'child');
  assert.deepEqual([ran.status, ran.stdout], [0, 'no child\nno child\n']);
  assert.equal(ran.stderr, `gpu-memtrace: ${inPlace('main.gputrace')}\n`);
  assert.equal(tensors(reportOf(inPlace('main.gputrace'))).liveBytes, 3 * MB);
  assertSentence(main('-o').stderr);
  assert.equal(main('-o').status, 2);
});

test('nothing of a framework is imported with the package, nor at the start of Python', () => {
  const code =
    'import sys; before = set(sys.modules); import gpu_memtrace; print(sorted({n.partition(".")[0] for n in set(sys.modules) - before}))';
  const { stdout } = runPython(place, ['-c', code]);
  assert.doesNotMatch(stdout, /torch|lightning|transformers|pytest/);
  assert.match(stdout, /gpu_memtrace/);
});

test('garbage in variables is not heard of by the program, which is recorded as far as it can be', () => {
  const garbage = ['x', '-1', '1e309', '9'.repeat(5000), '²', '\u{1F600}', '%s%n', '../..'];
  const names = ['GPU_MEMTRACE_BUDGET', 'GPU_MEMTRACE_RANK', 'RANK', 'SLURM_PROCID', 'WORLD_SIZE', 'JOB_NAME'];
  const code = 'import sys; print("out"); sys.stderr.write("err\\n"); sys.exit(3)';
  for (const name of names)
    for (const value of garbage) {
      const env = { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: 'g.gputrace', GPU_MEMTRACE_RANKS: '0-3', [name]: value };
      const { status, stdout, stderr } = runPython(place, ['-c', code], env);
      assert.deepEqual([status, stdout], [3, 'out\n'], `${name}=${value.slice(0, 20)}`);
      assert.match(stderr, /^err\n(gpu-memtrace: .*\n)?$/, `${name}=${value.slice(0, 20)}`);
    }
});

test('a program that starts again, as the same process of the same host, leaves the trace of before', async () => {
  const env = { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: `${inPlace('pod')}/` };
  for (const times of [1, 2]) {
    assert.equal(run('plain', [], env).status, 0);
    const traces = readdirSync(inPlace('pod/traces')).filter(name => name.endsWith('.gputrace'));
    assert.equal(traces.length, times);
    for (const name of traces) assert.match(name, /-\d+-\d{8}-\d{6}\.gputrace$/);
    await pause(1100);
  }
});

test('python -m gpu_memtrace -o names the file, whatever the environment says of recording', () => {
  const env = { GPU_MEMTRACE: '1', GPU_MEMTRACE_OUT: 'not-this.gputrace' };
  const { status, stderr } = runPython(place, ['-m', 'gpu_memtrace', '-o', 'named.gputrace', job('plain')], env);
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(inPlace('named.gputrace')));
  assert.ok(!existsSync(inPlace('not-this.gputrace')));
  // A script that has such words as its arguments is recorded as the environment says.
  const script = runPython(place, [job('plain'), '-m', 'gpu_memtrace'], env);
  assert.equal(script.status, 0, script.stderr);
  assert.ok(existsSync(inPlace('not-this.gputrace')));
});
