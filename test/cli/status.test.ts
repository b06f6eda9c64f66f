// The traced program keeps its exit status, output and signals.
import assert from 'node:assert/strict';
import { chmodSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { DRIVER_SCRIPT, Place, python } from './launcher';

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

test('127 for a program that is not there, with one sentence', async t => {
  const { status, stderr } = await new Place(t).run([...RUN, 'no-such-program']);
  assert.equal(status, 127);
  assert.match(stderr, /^gpu-memtrace: no-such-program: command not found\.\n$/);
});

test('126 for a file that cannot be executed, with one sentence', async t => {
  const place = new Place(t);
  const file = place.write('plain.txt', 'text');
  chmodSync(file, 0o644);
  const { status, stderr } = await place.run([...RUN, file]);
  assert.equal(status, 126);
  assert.match(stderr, /^gpu-memtrace: .*plain\.txt: permission denied, it cannot be executed\.\n$/);
});

test('128 + signal for a program that a signal ended', async t => {
  const script = 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)';
  assert.equal((await new Place(t).run([...RUN, python, '-c', script])).status, 143);
});

test('SIGTERM to the command line reaches the program, which may end in its own way', async t => {
  const script = [
    'import signal, sys, time',
    'signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))',
    'print("ready", flush=True)',
    'time.sleep(30)',
  ].join('\n');
  const started = new Place(t).start([...RUN, python, '-c', script]);
  await started.saw('ready');
  process.kill(started.pid, 'SIGTERM');
  assert.equal((await started.ended).status, 9);
});

test('stdout is the program’s alone, byte for byte; the table goes to stderr', async t => {
  const place = new Place(t);
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(20 << 20)\nsys.stdout.write("a\\tb\\n")\n`);
  const { stdout, stderr, status } = await place.run(['run', '--simulate-gpu', '--', python, script]);
  assert.equal(status, 0);
  assert.equal(stdout, 'a\tb\n');
  assert.match(stderr, /^ {4}0x[0-9a-f]+:gpu_0: 20\.00 MB {2}.*job\.py:/m);
});

test('a program that never touches CUDA runs as without the tracer', async t => {
  const { status, report } = await new Place(t).trace([python, '-c', 'print(1 + 1)']);
  assert.equal(status, 0);
  assert.deepEqual(report.allocations, []);
  assert.equal(report.lost.events, 0);
});

test('the simulated GPU stands before no library but the driver’s and CUPTI’s', async t => {
  const script = 'import os; print(*sorted(os.listdir(os.environ["LD_LIBRARY_PATH"].split(":")[0])))';
  const { stdout } = await new Place(t).run([...RUN, python, '-c', script]);
  assert.equal(stdout, 'allocator libcuda.so.1 libcupti.so.13\n');
});
