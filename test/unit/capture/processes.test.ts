import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { checkTarget, processName } from '../../../extension/capture/checks/attachTarget';
import { cudaDrivers, mappedPrograms } from '../../../extension/capture/processes/processMaps';
import {
  attachCandidates,
  listCudaProcesses,
  parseComputeApps,
  readProcess,
  workingFolder,
} from '../../../extension/capture/processes/processes';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const DRIVER = '/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05';
const map = (path: string, perms = 'r-xp'): string =>
  `7f12a0000000-7f12a0200000 ${perms} 00000000 fe:01 12345    ${path}`;
const PYTHON_MAPS = [
  '55d0c0000000-55d0c0400000 r--p 00000000 fe:01 99                         /usr/bin/python3.11',
  map('/usr/bin/python3.11'),
  map('/usr/lib/libc.so.6'),
  '7ffd0000-7ffd1000 rw-p 00000000 00:00 0                          [stack]',
].join('\n');
const CUDA_MAPS = `${PYTHON_MAPS}\n${map(DRIVER, 'r--p')}\n${map(DRIVER)}\n`;

interface Fake {
  pid: number;
  parent?: number;
  uid?: number;
  state?: string;
  tgid?: number;
  words?: string[];
  /** Null: the kernel would refuse to open it. */
  maps: string | null;
}

/** A folder that looks as /proc does. */
function fakeProc(t: TestContext, processes: Fake[]): string {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'));
  t.after(() => rmSync(proc, { recursive: true, force: true }));
  for (const { pid, parent = 1, uid = 1000, state = 'S (sleeping)', tgid = pid, words, maps } of processes) {
    const folder = join(proc, String(pid));
    mkdirSync(folder);
    const ids = `${uid}\t${uid}\t${uid}\t${uid}`;
    const name = words === undefined ? 'kworker/0:1' : 'python3';
    const status = `Name:\t${name}\nState:\t${state}\nTgid:\t${tgid}\nPid:\t${pid}\nPPid:\t${parent}\nUid:\t${ids}\n`;
    writeFileSync(join(folder, 'status'), status);
    writeFileSync(join(folder, 'cmdline'), (words ?? []).map(word => `${word}\0`).join(''));
    // A test may run as root, whom no mode keeps out: a folder cannot be read as a file by anybody.
    if (maps === null) mkdirSync(join(folder, 'maps'));
    else writeFileSync(join(folder, 'maps'), maps);
    symlinkSync('/home/ada', join(folder, 'cwd'));
  }
  for (const name of ['self', 'meminfo']) writeFileSync(join(proc, name), '');
  return proc;
}

const train = ['python', 'train.py', '--name', 'a b'];

test('mapped programs, with spaces, newlines and deleted files', () => {
  const maps = [
    map('/opt/with space/lib.so'),
    map('/opt/new\\012line.so'),
    map(`${DRIVER} (deleted)`),
    map('/data/weights.bin', 'r--s'),
    map('[vdso]'),
    'no line of maps',
  ].join('\n');
  assert.deepEqual(mappedPrograms(maps), ['/opt/with space/lib.so', '/opt/new\nline.so', DRIVER]);
});

test('the CUDA driver under its names, and nothing else', () => {
  const drivers = ['/a/libcuda.so', '/b/libcuda.so.1', DRIVER, '/usr/lib/wsl/drivers/nv/libcuda.so.1.1'];
  const others = ['/a/libcudart.so.12', '/a/libcuda.so.1.bak', '/a/xlibcuda.so.1', '/a/libcudadebugger.so.1'];
  assert.deepEqual(cudaDrivers([...drivers, ...others].map(path => map(path)).join('\n')), drivers);
  assert.deepEqual(cudaDrivers(map(DRIVER, 'r--p')), [], 'a file that is only read is not loaded');
});

test('facts of a process', async t => {
  const proc = fakeProc(t, [{ pid: 41, parent: 40, uid: 0, words: train, maps: CUDA_MAPS }]);
  assert.deepEqual(await readProcess(41, proc), {
    pid: 41,
    parentPid: 40,
    uid: 0,
    user: 'root',
    command: train,
    program: true,
    ended: false,
    owner: 41,
    drivers: [DRIVER],
  });
  assert.equal(await readProcess(42, proc), null);
  assert.equal(await workingFolder(41, proc), '/home/ada');
  assert.equal(await workingFolder(42, proc), '/');
});

test('processes with the driver are listed; those that may not be looked into are named apart', async t => {
  const proc = fakeProc(t, [
    { pid: 2, words: undefined, maps: null },
    { pid: 10, words: ['bash'], maps: PYTHON_MAPS },
    { pid: 11, words: train, maps: CUDA_MAPS },
    { pid: 12, words: ['python', 'other.py'], uid: 4242, maps: null },
    { pid: 13, words: [], state: 'Z (zombie)', maps: '' },
    { pid: 14, words: ['eval'], maps: CUDA_MAPS },
  ]);
  const { found, hidden } = await listCudaProcesses(proc);
  assert.deepEqual(found.map(({ pid }) => pid).sort(), [11, 14]);
  assert.deepEqual(
    hidden.map(({ pid, user }) => [pid, user]),
    [[12, '4242']],
  );
});

test('GPU bytes by process, a figure for each GPU', () => {
  const listing = '11, 1024\n12, [N/A]\n11, 512\n[Not Found], 3\n\n14,1\n';
  assert.deepEqual(
    [...parseComputeApps(listing)],
    [
      [11, [1024 * 1024 ** 2, 512 * 1024 ** 2]],
      [14, [1024 ** 2]],
    ],
  );
});

test('candidates: one’s own first, then by GPU memory; foreign ones where the driver names them', async t => {
  const proc = fakeProc(t, [
    { pid: 11, words: train, maps: CUDA_MAPS },
    { pid: 12, words: train, maps: CUDA_MAPS },
    { pid: 13, words: train, uid: 4242, maps: null },
    { pid: 14, words: ['sshd'], uid: 0, maps: null },
    { pid: 15, words: train, uid: 4242, maps: CUDA_MAPS },
  ]);
  const smi = join(proc, 'nvidia-smi');
  writeFileSync(
    smi,
    '#!/bin/sh\n[ "$*" = "--query-compute-apps=pid,used_memory --format=csv,noheader,nounits" ] || exit 1\n',
  );
  writeFileSync(smi, 'printf "12, 60\\n13, 900\\n99, 5\\n12, 40\\n"\n', { flag: 'a' });
  chmodSync(smi, 0o755);
  const listed = async (path: string): Promise<unknown[]> =>
    (await attachCandidates({ PATH: path }, proc, 1000)).map(({ process, own, gpuBytes }) => [
      process.pid,
      own,
      gpuBytes,
    ]);
  const MB = 1024 ** 2;
  assert.deepEqual(await listed(`${proc}:/bin`), [
    [12, true, 100 * MB],
    [11, true, null],
    [13, false, 900 * MB],
    [15, false, null],
  ]);
  assert.deepEqual(await listed('/nowhere'), [
    [11, true, null],
    [12, true, null],
    [15, false, null],
  ]);
});

test('a process that can be attached to, and one sentence for each that cannot', async t => {
  const proc = fakeProc(t, [
    { pid: 10, words: ['bash'], maps: PYTHON_MAPS },
    { pid: 11, words: train, maps: CUDA_MAPS },
    { pid: 12, words: train, uid: 4242, maps: CUDA_MAPS },
    { pid: 13, words: train, state: 'Z (zombie)', maps: '' },
    { pid: 14, words: train, tgid: 11, maps: CUDA_MAPS },
    { pid: 15, words: train, maps: null },
    { pid: 20, words: ['torchrun', 'train.py'], maps: PYTHON_MAPS },
    { pid: 21, parent: 20, words: train, maps: CUDA_MAPS },
    { pid: 22, parent: 20, words: train, maps: CUDA_MAPS },
    { pid: 30, words: ['sh'], maps: PYTHON_MAPS },
    { pid: 31, parent: 30, words: train, maps: CUDA_MAPS },
  ]);
  const check = (pid: number, uid = 1000): ReturnType<typeof checkTarget> =>
    checkTarget(pid, ['gm', 'attach', String(pid)], proc, uid);
  const fine = await check(11);
  assert.ok('pid' in fine && fine.pid === 11);
  assert.ok('pid' in (await check(12, 0)), 'root attaches to all');
  const cases: [number, string | null][] = [
    [9, null],
    [10, null],
    [12, 'sudo gm attach 12'],
    [13, null],
    [14, null],
    [15, 'sudo gm attach 15'],
    [20, null],
    [30, null],
  ];
  for (const [pid, command] of cases) {
    const advice = await check(pid);
    assert.ok('sentence' in advice, String(pid));
    assertSentence(advice.sentence);
    assert.doesNotMatch(advice.sentence, /\n/);
    assert.equal(advice.command, command);
  }
  const hidden = await check(15, 0);
  assert.ok('sentence' in hidden);
  assert.equal(hidden.command, null, 'root has no root to ask');
});

test('a command in sentences: of paths the last part, and not more than a line takes', () => {
  const command = ['/usr/bin/python3', '/home/a b/train it.py', '--lr', '1'];
  assert.equal(processName({ pid: 7, command }), "Process 7 (python3 'train it.py' --lr 1)");
  assert.match(processName({ pid: 1, command: ['x'.repeat(500)] }), /^Process 1 \(x{59}…\)$/);
});
