// What a script did to the driver, in the report: addresses, sizes, lines, totals; also when it was killed.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { DRIVER_SCRIPT, FIRST_LINE, kill, Place, python, type Report } from '../launcher';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const totals = (report: Report, layer: string): Report['totals'] =>
  report.totals.filter(total => total.layer === layer && total.device === 0);

test('live allocations carry address, size, thread and line', async t => {
  const place = new Place(t);
  const script = place.write(
    'job.py',
    `${DRIVER_SCRIPT}def keep():
    return alloc(${20 * MB})
kept = keep()
gone = alloc(${2 * MB})
free(gone)
print(hex(kept), os.getpid())
`,
  );
  const { stdout, status, report } = await place.trace([python, script]);
  assert.equal(status, 0);
  const [address, pid] = stdout.trim().split(' ');
  assert.equal(report.allocations.length, 1);
  const [live] = report.allocations;
  assert.deepEqual(
    { address: live?.address, bytes: live?.bytes, device: live?.device, layer: live?.layer, pid: live?.pid },
    { address, bytes: 20 * MB, device: 0, layer: 'driver', pid: Number(pid) },
  );
  assert.equal(live?.tid, Number(pid), 'the main thread');
  const site = report.sites.find(candidate => candidate.id === live?.site);
  const lines = site?.frames.map(({ file, line, function: name }) => `${file}:${line} ${name}`);
  const allocLine = DRIVER_SCRIPT.split('\n').findIndex(line => line.includes('cuMemAlloc_v2')) + 1;
  assert.deepEqual(lines, [
    `${script}:${allocLine} alloc`,
    `${script}:${FIRST_LINE + 1} keep`,
    `${script}:${FIRST_LINE + 2} <module>`,
  ]);
  const [total] = totals(report, 'driver');
  assert.deepEqual([total?.liveBytes, total?.peakBytes, total?.allocations, total?.frees], [20 * MB, 22 * MB, 2, 1]);
  assert.equal(report.lost.events, 0);
});

test('a failed allocation is an event and no memory', async t => {
  const place = new Place(t);
  const script = place.write(
    'job.py',
    `${DRIVER_SCRIPT}alloc(${MB})
try: alloc(1 << 50)
except RuntimeError as error: print(error)
`,
  );
  const { stdout, report } = await place.trace([python, script]);
  assert.match(stdout, /CUDA error 2/);
  const [total] = totals(report, 'driver');
  assert.deepEqual([total?.liveBytes, total?.allocations], [MB, 1]);
  assert.equal(total?.failed, 1);
});

test('after SIGKILL everything that was written is in the trace', async t => {
  const place = new Place(t);
  const script = place.write(
    'job.py',
    `${DRIVER_SCRIPT}for i in range(500): alloc(${MB})
os.kill(os.getpid(), signal.SIGKILL)
`,
  );
  const { status, report } = await place.trace([python, script]);
  assert.equal(status, 137);
  assert.equal(totals(report, 'driver')[0]?.liveBytes, 500 * MB);
  const again = await place.run(['report', place.path('t.gputrace'), '--format', 'json']);
  assert.deepEqual((JSON.parse(again.stdout) as Report).totals, report.totals);
  assert.equal(report.processes[0]?.exitCode, 137);
});

/** Linux kills what goes over its limit. */
const LIMITED = `/sys/fs/cgroup/memory/gpu-memtrace-${process.pid}`;

function limitMemory(bytes: number): boolean {
  try {
    mkdirSync(LIMITED);
    writeFileSync(`${LIMITED}/memory.limit_in_bytes`, String(bytes));
    return true;
  } catch {
    return false;
  }
}

test('a program that Linux kills because main memory ran out is told as such', async t => {
  if (!limitMemory(60 * MB)) return t.skip('no memory of this machine can be limited: that takes root and cgroup v1');
  const place = new Place(t);
  const body = `alloc(${MB})
open("${LIMITED}/tasks", "w").write(str(os.getpid()))
hog = []
while True: hog.append(bytearray(${MB}))
`;
  const { status, stderr, report } = await place.trace([python, place.write('job.py', DRIVER_SCRIPT + body)]);
  rmdirSync(LIMITED);
  assert.equal(status, 137);
  assertSentence(stderr);
  assert.equal(totals(report, 'driver')[0]?.liveBytes, MB);
});

test('after SIGKILL of tracer and program the trace directory can be read', async t => {
  const place = new Place(t);
  const script = place.write(
    'job.py',
    `${DRIVER_SCRIPT}for i in range(300): alloc(${MB})
print("ready", flush=True)
time.sleep(600)
`,
  );
  const started = place.start(['run', '--simulate-gpu', '--format', 'none', '--', python, script]);
  await started.printedText('ready');
  kill(-started.pid);
  await started.ended;
  const below = place.path('run', 'gpu-memory-trace');
  const [directory] = readdirSync(below);
  const { stdout, status } = await place.run(['report', `${below}/${directory}`, '--format', 'json']);
  assert.equal(status, 0);
  assert.equal(totals(JSON.parse(stdout) as Report, 'driver')[0]?.liveBytes, 300 * MB);
});

test('children that fork and exec are traced, each under its own process', async t => {
  const place = new Place(t);
  const child = place.write('child.py', `${DRIVER_SCRIPT}alloc(${3 * MB})\n`);
  const script = place.write(
    'parent.py',
    `${DRIVER_SCRIPT}import subprocess
alloc(${5 * MB})
subprocess.run([sys.executable, ${JSON.stringify(child)}], check=True)
`,
  );
  const { report } = await place.trace([python, script]);
  const live = totals(report, 'driver').map(total => total.liveBytes);
  assert.deepEqual(
    live.sort((a, b) => a - b),
    [3 * MB, 5 * MB],
  );
  const [parent, other] = report.processes;
  assert.equal(other?.parentPid, parent?.pid);
});

test('a size that no device has is what was asked for', async t => {
  const place = new Place(t);
  const tail = 'try: alloc(1 << 50)\nexcept RuntimeError: pass\n';
  const { report } = await place.trace([python, place.write('job.py', `${DRIVER_SCRIPT}alloc(4096)\n${tail}`)]);
  assert.deepEqual(
    report.oom.map(({ requestedBytes }) => requestedBytes),
    [2 ** 50],
  );
});
