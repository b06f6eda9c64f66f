// The traced program keeps its exit status, output and signals.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { inLong, LONG } from '../../long.mjs';
import { dist, DRIVER_SCRIPT, hangs, Place, python, type Report, until } from '../launcher';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const RUN = ['run', '--simulate-gpu', '--format', 'none', '--'];

test('the exit status is the program’s own', async t => {
  const place = new Place(t);
  assert.equal((await place.run([...RUN, python, '-c', 'raise SystemExit(7)'])).status, 7);
  assert.equal((await place.run([...RUN, 'true'])).status, 0);
});

test('with --format none the output is the program’s own', async t => {
  const place = new Place(t);
  const job = place.write('job.py', `${DRIVER_SCRIPT}alloc(4096)\nprint("ran")\n`);
  const { status, stdout, stderr } = await place.run([...RUN, python, job]);
  assert.deepEqual([status, stdout, stderr], [0, 'ran\n', '']);
  assert.match(
    readdirSync(place.path('cache'), { recursive: true }).join(),
    /job\.py-.*\.gputrace/,
    'it is kept all the same',
  );
});

test('a program that begins with CUDA and takes nothing of it did not do without it', async t => {
  const place = new Place(t);
  const { stderr } = await place.run(['run', '--simulate-gpu', '--', python, place.write('job.py', DRIVER_SCRIPT)]);
  assertSentence(stderr.trimEnd().split('\n').slice(-2).join('\n'));
});

test('127 for a program that is not there, with one sentence', async t => {
  const { status, stderr } = await new Place(t).run([...RUN, 'no-such-program']);
  assert.equal(status, 127);
  assertSentence(stderr);
});

test('126 for a file that cannot be executed, with one sentence', async t => {
  const place = new Place(t);
  const file = place.write('plain.txt', 'text');
  chmodSync(file, 0o644);
  const { status, stderr } = await place.run([...RUN, file]);
  assert.equal(status, 126);
  assertSentence(stderr);
});

test('a script that is no program of its own: what to type', async t => {
  const place = new Place(t);
  place.write('train.py', 'print(1)');
  for (const [script, expected] of [
    ['train.py', 127], // as a shell: it is not in PATH
    ['./train.py', 126],
  ] as const) {
    const { status, stdout, stderr } = await place.run(['run', '--simulate-gpu', script, '--epochs', '3']);
    assert.deepEqual([status, stdout], [expected, '']);
    assertSentence(stderr);
  }
});

test('a script that is not there: one sentence, also without a GPU', async t => {
  const place = new Place(t);
  const { status, stdout, stderr } = await place.run(['run', 'absent.py', '--epochs', '3']);
  assert.deepEqual([status, stdout], [127, '']);
  assertSentence(stderr);
});

test('128 + signal for a program that a signal ended', async t => {
  const script = 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)';
  assert.equal((await new Place(t).run([...RUN, python, '-c', script])).status, 143);
});

test('128 + signal for real-time signals too, which Node.js has no names for', async t => {
  const place = new Place(t);
  for (const signal of LONG ? [34, 40, 64] : [40]) {
    const { status } = await place.run([...RUN, python, '-c', `import os; os.kill(os.getpid(), ${signal})`]);
    assert.equal(status, 128 + signal);
  }
});

test('Ctrl+C on a terminal reaches the program once', t => {
  const place = new Place(t);
  place.write(
    'job.py',
    `import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: (seen.append(1), print("seen", flush=True)))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(len(seen)))
print("ready", flush=True)
while True: time.sleep(10)
`,
  );
  const terminal = place.write(
    'terminal.py',
    `import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
def wait_for(text):
    seen = b""
    while text not in seen: seen += os.read(fd, 1000)
wait_for(b"ready")
os.write(fd, b"\\x03")
wait_for(b"seen")
os.kill(pid, signal.SIGTERM)
try:
    while os.read(fd, 1000): pass
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`,
  );
  const words = [process.execPath, join(dist, 'cli.js'), ...RUN, python, place.path('job.py')];
  const { status, stderr } = spawnSync(python, [terminal, ...words], { env: place.env, encoding: 'utf8' });
  assert.equal(status, 1, stderr);
});

/** Counts what comes; SIGTERM ends it, with that number. */
const COUNTS = `import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: (seen.append(1), print("seen", flush=True)))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(10 + len(seen)))
print("ready", flush=True)
while True: time.sleep(10)
`;

for (const [to, sign] of [
  ['the command line alone', 1],
  ['its whole process group', -1],
] as const)
  test(`without a terminal, SIGINT to ${to} reaches the program once`, async t => {
    const started = new Place(t).start([...RUN, python, '-c', COUNTS]);
    await started.printedText('ready');
    process.kill(sign * started.pid, 'SIGINT');
    await started.printedText('seen');
    process.kill(started.pid, 'SIGTERM');
    assert.equal((await started.ended).status, 11);
  });

test('on a terminal, too, SIGINT to the command line alone reaches the program', t => {
  const place = new Place(t);
  const terminal = place.write(
    'terminal.py',
    `import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
try:
    while data := os.read(fd, 1000):
        seen += data
        if b"ready" in seen: os.kill(pid, signal.SIGINT); seen = b""
        if b"seen" in seen: os.kill(pid, signal.SIGTERM); seen = b""
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`,
  );
  const words = [process.execPath, join(dist, 'cli.js'), ...RUN, python, '-c', COUNTS];
  const { status } = spawnSync(python, [terminal, ...words], { env: place.env, timeout: 300_000 });
  assert.equal(status, 11);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  (signal === 'SIGTERM' ? inLong(test) : test)(
    `${signal} ends what is left to do after the program; the trace stays, and that is said`,
    async t => {
      const place = new Place(t);
      const script = place.write('job.py', `${DRIVER_SCRIPT}for i in range(5000): alloc(4096)\n`);
      const words = ['run', '--simulate-gpu', '--format', 'json', '--', python, script];
      const { child, ended, text } = place.startUnread(words, 'stdout');
      await until(() => hangs(child.pid));
      child.kill(signal);
      assert.equal(await ended, 128 + constants.signals[signal]);
      assert.match(text(), /^gpu-memtrace: A signal .*$/m);
      const directory = text().trimEnd().split('\n').at(-1) ?? '';
      const { stdout } = await place.run(['report', directory, '--format', 'json']);
      assert.equal((JSON.parse(stdout) as Report).totals[0]?.liveBytes, 5000 * 4096);
    },
  );
}

test('signals are heard while a sentence of ours hangs: by the program, and once that has ended, by the command line', async t => {
  const place = new Place(t);
  const script = place.write(
    'job.py',
    `${DRIVER_SCRIPT}import socket
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
errors = socket.socket(fileno=2)
def fill():
    for size in (4096, 1):
        try:
            while True: errors.sendall(bytes(size), socket.MSG_DONTWAIT)
        except BlockingIOError: pass
kept = []
while True:
    kept.append(alloc(512 << 10))
    free(alloc(4096))
    time.sleep(0.005)
    fill()
`,
  );
  const words = ['run', '--simulate-gpu', '--interval', '0.1', '--', python, script];
  const { child, ended } = place.startUnread(words, 'stderr');
  await until(() => hangs(child.pid));
  const program = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')[0] ?? '';
  child.kill('SIGTERM');
  // Until its last thread has ended signals are its own.
  await until(
    () =>
      readFileSync(`/proc/${program}/stat`, 'utf8').includes(') Z ') &&
      readdirSync(`/proc/${program}/task`).length === 1,
  );
  child.kill('SIGTERM');
  assert.equal(await ended, 143);
});

test('SIGTERM to the command line reaches the program, which may end in its own way', async t => {
  const script = [
    'import signal, sys, time',
    'signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))',
    'print("ready", flush=True)',
    'time.sleep(600)',
  ].join('\n');
  const started = new Place(t).start([...RUN, python, '-c', script]);
  await started.printedText('ready');
  process.kill(started.pid, 'SIGTERM');
  assert.equal((await started.ended).status, 9);
});

test('stdout is the program’s alone, byte for byte; the table goes to stderr', async t => {
  const place = new Place(t);
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(20 << 20)\nsys.stdout.write("a\\tb\\n")\n`);
  const { stdout, stderr, status } = await place.run(['run', '--simulate-gpu', '--', python, script]);
  assert.equal(status, 0);
  assert.equal(stdout, 'a\tb\n');
  assert.match(stderr, /^ {4}0x[0-9a-f]+:gpu_0: 20 MiB {2}.*job\.py:/m);
});

test('a program that never touches CUDA runs as without the tracer', async t => {
  const { status, report } = await new Place(t).trace([python, '-c', 'print(1 + 1)']);
  assert.equal(status, 0);
  assert.deepEqual(report.allocations, []);
  assert.equal(report.lost.events, 0);
});

test('a program whose PyTorch was built without CUDA is said to run on the CPU, at once and at its end', async t => {
  const place = new Place(t);
  for (const name of ['libtorch_cpu.so', 'libc10.so']) place.write(name, ' '.repeat(4096));
  const script = place.write(
    'job.py',
    `import mmap, os, time
library = open("libtorch_cpu.so", "rb")
loaded = mmap.mmap(library.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
while not os.path.exists("go"): time.sleep(0.01)
`,
  );
  const program = place.start(['run', '-o', 't.gputrace', '--', python, script]);
  const [atOnce = ''] = await program.printed(/^gpu-memtrace: .*torch\.cuda\.is_available\(\).*$/m);
  assertSentence(atOnce);
  place.write('go', '');
  const { status, stderr } = await program.ended;
  assert.equal(status, 0);
  assertSentence(linesOf(stderr.slice(atOnce.length), /^[A-Z].*\.$|^gpu-memtrace/));
});

test('doctor tells a PyTorch that was built without CUDA from one that was built with it', async t => {
  const place = new Place(t);
  const libraries = 'lib/python3.11/site-packages/torch/lib';
  for (const folder of ['bin', libraries]) mkdirSync(place.path(folder), { recursive: true });
  chmodSync(place.write('bin/python3', '#!/bin/sh\necho 3.11.7\n'), 0o755);
  const doctor = async (): Promise<string> => {
    const path = `${place.path('bin')}:${process.env.PATH}`;
    return (await place.run(['doctor'], { PATH: path, VIRTUAL_ENV: place.folder })).stdout;
  };
  place.write(`${libraries}/libtorch_cpu.so`, '');
  const without = /^warning {2}PyTorch .*\n.*/m.exec(await doctor())?.[0];
  assertSentence(without);
  place.write(`${libraries}/libc10_cuda.so`, '');
  assertSentence(linesOf(await doctor(), /^ok {7}PyTorch/));
});

test('doctor says what is missing without libcupti, and the package of PyTorch’s CUDA that brings it', async t => {
  const place = new Place(t);
  const libraries = 'lib/python3.11/site-packages/torch/lib';
  for (const folder of ['bin', libraries]) mkdirSync(place.path(folder), { recursive: true });
  chmodSync(place.write('bin/python3', '#!/bin/sh\necho 3.11.7\n'), 0o755);
  place.write(`${libraries}/libtorch_cpu.so`, '');
  place.write(`${libraries}/../version.py`, "cuda: Optional[str] = '12.8'\n");
  const path = `${place.path('bin')}:${process.env.PATH}`;
  const { stdout } = await place.run(['doctor'], { PATH: path, VIRTUAL_ENV: place.folder });
  if (!/^ok {7}libcupti/m.test(stdout)) assertSentence(/^warning {2}libcupti .*\n.*/m.exec(stdout)?.[0]);
});

test('the simulated GPU stands before no library but the driver’s and CUPTI’s', async t => {
  const script = 'import os; print(*sorted(os.listdir(os.environ["LD_LIBRARY_PATH"].split(":")[0])))';
  const { stdout } = await new Place(t).run([...RUN, python, '-c', script]);
  assert.equal(stdout, 'allocator libcuda.so.1 libcupti.so.13\n');
});
