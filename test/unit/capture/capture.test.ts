import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import nodeFs, {
  type PathLike,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { signalName } from '../../../extension/capture/launch/launch';
import {
  prepareTerminal,
  readPid,
  readStatus,
  terminalArguments,
} from '../../../extension/capture/launch/terminalScript';
import {
  cuptiCandidates,
  cuptiInstall,
  interpreterOf,
  onPath,
  torchCuda,
} from '../../../extension/capture/processes/machine';
import { cacheFolder, keptTracesFolder, traceRoots } from '../../../extension/capture/traces/folders';
import {
  KEPT_BYTES,
  keepOomDocument,
  keptTraceFile,
  pruneKeptTraces,
  scriptName,
  traceTitle,
  unwritable,
} from '../../../extension/capture/traces/keptTraces';
import { writeSession } from '../../../extension/capture/traces/sessionFile';
import { KeptRecorder, spaceLimits } from '../../../extension/capture/launch/recorder';
import { createTraceDirectory, removeStale } from '../../../extension/capture/traces/traceDirectory';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const uid = process.getuid?.() ?? 0;

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'capture-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
function executable(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

test('the trace directory is private and lies in the first root that can be written', t => {
  const root = folder(t);
  writeFileSync(join(root, 'file'), '');
  const made = createTraceDirectory([join(root, 'file', 'x'), join(root, 'file'), join(root, 'second')], uid);
  assert.ok('path' in made);
  assert.equal(join(root, 'second'), join(made.path, '..'));
  assert.equal(statSync(made.path).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, 'second')).mode & 0o777, 0o700);
});

test('a disk that keeps what it reserves is preferred; where there is none, that is said', t => {
  const [btrfs, ext] = [join(folder(t), 'btrfs'), join(folder(t), 'ext')];
  const space = (path: PathLike) => ({ type: path === btrfs ? 0x9123683e : 0xef53, bsize: 4096, bavail: 1 << 20 });
  t.mock.method(nodeFs, 'statfsSync', space as typeof nodeFs.statfsSync);
  const made = createTraceDirectory([btrfs, ext], uid);
  assert.ok('path' in made && made.note === null);
  assert.equal(join(made.path, '..'), ext);
  const alone = createTraceDirectory([btrfs], uid);
  assert.ok('path' in alone);
  assertSentence(alone.note ?? '');
});

test('where no root has much space the one with most is taken', t => {
  const small = folder(t);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'gmt-test', small]).status !== 0)
    return t.skip('a small disk can be mounted by root alone');
  const larger = join(small, 'larger');
  mkdirSync(larger);
  try {
    assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'gmt-test', larger]).status, 0);
    const made = createTraceDirectory([join(small, 'a'), join(larger, 'b')], uid);
    assert.ok('path' in made);
    assert.equal(join(made.path, '..'), join(larger, 'b'));
    assert.match(made.note ?? '', / 2 MiB /);
  } finally {
    spawnSync('umount', [larger]);
    spawnSync('umount', [small]);
  }
});

test('where no folder can be made the reason of each root is said', () => {
  const made = createTraceDirectory(['/proc/none/a', '/dev/null/b'], uid);
  assert.ok('error' in made);
  assertSentence(made.error);
});

test('a root that is a link or belongs to somebody else is not used', t => {
  const root = folder(t);
  symlinkSync(tmpdir(), join(root, 'link'));
  const linked = createTraceDirectory([join(root, 'link')], uid);
  assert.ok('error' in linked);
  assertSentence(linked.error);
  const foreign = createTraceDirectory([join(root, 'x')], uid + 1);
  assert.ok('error' in foreign);
  assert.match(foreign.error, /another user/);
});

test('directories that killed launchers left go after a week, unless a process of theirs lives', t => {
  const root = folder(t);
  const make = (name: string, file: string, text: string): void => {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, file), text);
  };
  make('trace-gone', '999999999-ab.gmtlog', '');
  make('trace-log', `${process.pid}-ab.gmtlog`, '');
  make('trace-session', 'session.json', JSON.stringify({ processes: [{ pid: process.pid }] }));
  make('trace-broken', 'session.json', '{');
  make('other', 'x', '');
  const day = 86_400_000;
  removeStale(root, Date.now() + 6 * day);
  assert.equal(readdirSync(root).length, 5);
  removeStale(root, Date.now() + 8 * day);
  assert.deepEqual(readdirSync(root).sort(), ['other', 'trace-log', 'trace-session']);
});

test('roots follow the XDG rules', () => {
  assert.deepEqual(traceRoots({ XDG_RUNTIME_DIR: '/run/user/5', HOME: '/h' }, 5).slice(0, 2), [
    '/run/user/5/gpu-memory-trace',
    '/h/.cache/gpu-memory-trace/live',
  ]);
  assert.equal(traceRoots({ XDG_RUNTIME_DIR: 'relative', HOME: '/h' }, 5).length, 2);
  assert.equal(cacheFolder({ XDG_CACHE_HOME: '/c' }), '/c/gpu-memory-trace');
});

test('what sudo left of the user’s folders is not filled by root', t => {
  if (uid !== 0) return t.skip('only root can be under sudo');
  const home = folder(t);
  chownSync(home, 4242, 4242);
  const roots = traceRoots({ XDG_RUNTIME_DIR: home, XDG_CACHE_HOME: home, HOME: home }, 0);
  assert.equal(roots.length, 2);
  assert.equal(roots[0], join(userInfo().homedir, '.cache/gpu-memory-trace/live'));
  chownSync(home, 0, 0);
  assert.deepEqual(traceRoots({ XDG_RUNTIME_DIR: home, XDG_CACHE_HOME: home }, 0).slice(0, 2), [
    join(home, 'gpu-memory-trace'),
    join(home, 'gpu-memory-trace/live'),
  ]);
});

test('the budget of a job is the user’s own, else a part of the free space within bounds; detail is a part of it', () => {
  const [none, disk] = [
    { budgetBytes: null, detailBytes: null },
    { freeBytes: 1e9, inMemory: false },
  ];
  const budget = (environment: Record<string, string>, space = disk): number =>
    spaceLimits(none, environment, space).budgetBytes;
  assert.equal(budget({ GPU_MEMTRACE_BUDGET: '123' }), 123);
  assert.equal(budget({ GPU_MEMTRACE_BUDGET: 'x' }), 5e8);
  assert.equal(budget({}, { freeBytes: 1e13, inMemory: false }), 2 * 1024 ** 3);
  assert.equal(budget({}, { freeBytes: 1e6, inMemory: true }), 2.5e5);
  const own = spaceLimits({ budgetBytes: 1e8, detailBytes: null }, { GPU_MEMTRACE_BUDGET: '123' }, disk);
  assert.deepEqual(own, { budgetBytes: 1e8, detailBytes: 2.5e7 });
  assert.equal(spaceLimits({ ...none, detailBytes: 7 }, {}, disk).detailBytes, 7);
});

test('a recorder that cannot work yet is started again, one whose job is over is not', async t => {
  const dist = folder(t);
  const begun = join(dist, 'begun');
  mkdirSync(join(dist, 'native'));
  const script = `#!/bin/sh\necho >> ${begun}\ntest "$(wc -l < ${begun})" -ge 2\n`;
  executable(join(dist, 'native/gpu-memtrace-recorder'), script);
  const times = (): number => (existsSync(begun) ? readFileSync(begun, 'utf8').length : 0);
  const recorder = new KeptRecorder(dist, dist, null);
  t.after(() => recorder.stop());
  for (let turn = 0; turn < 500 && times() < 2; turn++) await new Promise(done => setTimeout(done, 20));
  await new Promise(done => setTimeout(done, 1000)); // a third would come after 600 ms
  assert.equal(times(), 2);
});

test('kept traces are named after the script, and the newest 30 of each folder stay, with what was written of their runs', t => {
  const cache = folder(t);
  const [root, other] = ['/x/my job', '/y/my job'].map(cwd => keptTracesFolder({ XDG_CACHE_HOME: cache }, cwd));
  assert.ok(root && other && root !== other);
  const file = keptTraceFile(root, ['python', '/x/my train.py', '--lr', '1'], new Date('2026-01-02T03:04:05Z'));
  assert.match(file, /traces\/my_job-[\da-f]{8}\/my_train\.py-20260102-030405-\d+\.gputrace$/);
  const elsewhere = keptTraceFile(other, ['old.py'], new Date());
  writeFileSync(elsewhere, '');
  utimesSync(elsewhere, 1e8, 1e8);
  for (let age = 0; age < 33; age++) {
    const path = join(root, `t${age}.gputrace`);
    writeFileSync(path, '');
    utimesSync(path, 1e9 - age, 1e9 - age);
  }
  const written = { 'other.txt': -5, 'oom-1.md': -29.5, 'oom-2.md': -30.5, 'notes.md': -31 };
  for (const [name, age] of Object.entries(written)) {
    writeFileSync(join(root, name), '');
    utimesSync(join(root, name), 1e9 + age, 1e9 + age);
  }
  pruneKeptTraces(dirname(root));
  const names = Array.from({ length: 30 }, (_, age) => `t${age}.gputrace`);
  assert.deepEqual(readdirSync(root).sort(), ['notes.md', 'oom-1.md', 'other.txt', ...names].sort());
  assert.ok(existsSync(elsewhere), 'another folder has its own 30');
  truncateSync(join(root, 't1.gputrace'), KEPT_BYTES + 1); // takes no space on the disk
  pruneKeptTraces(dirname(root));
  assert.deepEqual(
    readdirSync(root).filter(name => name.startsWith('t')),
    ['t1.gputrace'],
    'it was written last, and is kept however big it is',
  );
  assert.ok(!existsSync(elsewhere), 'it had no room beside the newer ones');
});

test('a document of another run stays', t => {
  const root = folder(t);
  const names = ['first', 'second', 'third'].map(text => basename(keepOomDocument(root, 'oom-0-17', text)));
  assert.deepEqual(names, ['oom-0-17.md', 'oom-0-17-2.md', 'oom-0-17-3.md']);
  assert.equal(readFileSync(join(root, 'oom-0-17.md'), 'utf8'), 'first');
});

test('script names', t => {
  assert.equal(scriptName(['python', '-m', 'pkg.train', 'x']), 'pkg.train');
  assert.equal(scriptName(['/usr/bin/env']), 'env');
  const kept = keptTraceFile(folder(t), ['python', 'train-2.py'], new Date());
  assert.deepEqual([traceTitle(kept), traceTitle('/x/run-7.gputrace')], ['train-2.py', 'run-7.gputrace']);
  assert.equal(scriptName(['../..']), 'program');
});

test('a file that cannot be written is refused with its folder', t => {
  const root = folder(t);
  assert.equal(unwritable(join(root, 'x.gputrace')), null);
  assertSentence(unwritable(root) ?? '');
  assertSentence(unwritable(join(root, 'none', 'x')) ?? '');
  assert.deepEqual(readdirSync(root), []);
});

test('signals behind statuses', () => {
  assert.equal(signalName(143), 'SIGTERM');
  assert.equal(signalName(162), 'signal 34');
  assert.equal(signalName(255), null);
  assert.equal(signalName(1), null);
});

test('libcupti beside the program’s Python comes before the toolkit’s, newest first', t => {
  const root = folder(t);
  const packages = join(root, 'venv/lib/python3.12/site-packages');
  const files = [
    join(packages, 'nvidia/cu13/lib/libcupti.so.13'),
    join(packages, 'nvidia/cuda_cupti/lib/libcupti.so.12'),
    join(root, 'cuda/extras/CUPTI/lib64/libcupti.so.12'),
    join(root, 'cuda/lib64/libcupti.so.13'),
    join(root, 'cuda/lib64/libcupti.so.12'),
  ];
  for (const file of [...files, join(root, 'cuda/lib64/libcupti.so'), join(root, 'cuda/lib64/libcupti.so.13.0.85')]) {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
  }
  const environment = { CUDA_HOME: join(root, 'cuda'), HOME: root };
  const found = cuptiCandidates(environment, join(root, 'venv/bin/python'));
  assert.deepEqual(
    found.filter(file => file.startsWith(root)),
    files,
  );
});

test('the package that brings libcupti is that of PyTorch’s CUDA', t => {
  const root = folder(t);
  const install = (version: string): string => {
    writeFileSync(join(root, 'version.py'), version);
    return cuptiInstall(torchCuda(join(root, 'lib')));
  };
  assert.equal(install("__version__ = '1.10.0'\ncuda = '11.3'\n"), 'pip install "nvidia-cuda-cupti-cu11==11.3.*"');
  const typed = "__all__ = ['cuda']\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n";
  assert.equal(install(typed), 'pip install "nvidia-cuda-cupti-cu12==12.8.*"');
  assert.equal(install("cuda: Optional[str] = '13.0'\n"), 'pip install "nvidia-cuda-cupti==13.0.*"');
  const any = install('cuda: Optional[str] = None\n');
  assertSentence(any);
  assert.equal(cuptiInstall(torchCuda(join(root, 'nowhere/lib'))), any);
});

test('the interpreter of a command: itself, or what its first line names', t => {
  const root = folder(t);
  const environment = { PATH: root };
  const python = executable(join(root, 'python3'), '');
  executable(join(root, 'torchrun'), `#!${python}\n`);
  executable(join(root, 'tool'), '#!/usr/bin/env python3\n');
  executable(join(root, 'shell'), '#!/bin/sh\n');
  for (const command of ['python3', python, 'torchrun', 'tool']) {
    assert.equal(interpreterOf(command, environment, '/'), python, command);
  }
  for (const command of ['shell', 'none', './none']) assert.equal(interpreterOf(command, environment, '/'), null);
  assert.equal(onPath('python3', environment), python);
});

test('session.json is replaced as a whole', t => {
  const root = folder(t);
  const facts = {
    version: 1 as const,
    command: ['x'],
    cwd: '/',
    startedRealtimeMs: 1,
    simulated: false,
    backend: 'inject' as const,
    processes: [],
  };
  writeSession(root, facts);
  writeSession(root, { ...facts, processes: [{ pid: 5, exitCode: 1 }] });
  assert.deepEqual(readdirSync(root), ['session.json']);
  const read = JSON.parse(readFileSync(join(root, 'session.json'), 'utf8')) as typeof facts;
  assert.deepEqual(read.processes, [{ pid: 5, exitCode: 1 }]);
});

test('in a terminal the program gets its words and variables; its id and status are left in the directory', t => {
  const root = folder(t);
  assert.deepEqual([readPid(root), readStatus(root)], [null, null]);
  const command = ['/bin/sh', '-c', 'echo "$1|$SET|$$"; exit 7', 'sh', `a 'b" $c`];
  const words = terminalArguments(root, ['Status', 'Any key.'], { SET: 'x y=z' }, command);
  const { stdout, status } = spawnSync('/bin/sh', words, { input: '', encoding: 'utf8' });
  assert.equal(status, 0);
  const [begin, end] = ['ABC', 'D'].map(marks => [...marks].map(mark => `\x1b]633;${mark}\x07`).join(''));
  assert.equal(stdout, `${begin}a 'b" $c|x y=z|${readPid(root)}\n${end}\nStatus 7. Any key.\n`);
  assert.equal(readStatus(root), 7);
});

test('in a terminal the status of a program that filled the disk is known', t => {
  const root = folder(t);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'gmt-test', root]).status !== 0)
    return t.skip('a small disk can be mounted by root alone');
  try {
    prepareTerminal(root);
    assert.deepEqual([readPid(root), readStatus(root)], [null, null]);
    const command = ['/bin/sh', '-c', 'dd if=/dev/zero of="$0/hog" 2>/dev/null; exit 7', root];
    spawnSync('/bin/sh', terminalArguments(root, ['', ''], {}, command), { input: '' });
    assert.equal(readStatus(root), 7);
    assert.ok((readPid(root) ?? 0) > 1);
  } finally {
    spawnSync('umount', [root]);
  }
});

test('in a terminal a program that is not there leaves 127, a killed one 128 + signal', t => {
  for (const [command, status] of [
    [['/no/such/program'], 127],
    [['/bin/sh', '-c', 'kill -9 $$'], 137],
    [['/bin/sh', '-c', 'kill -34 $$'], 162],
  ] as const) {
    const root = folder(t);
    spawnSync('/bin/sh', terminalArguments(root, ['', ''], {}, command), { input: '' });
    assert.equal(readStatus(root), status);
  }
  assert.ok(existsSync('/bin/sh'));
});
