// Disks without room, and trace directories that go: the program's own status, what can be saved saved, one sentence.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dist, DRIVER_SCRIPT, LEAKY_STEPS, Place, python, type Report } from '../launcher';
import { placeOnDisk } from './smallDisk';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const ours = (stderr: string): string[] => stderr.split('\n').filter(line => line.startsWith('gpu-memtrace: '));
const quiet = ['run', '--simulate-gpu', '--format', 'none'];
const live = (report: Report): number | undefined => report.totals.find(({ layer }) => layer === 'driver')?.liveBytes;

/** Python that leaves no byte on the disk of a folder. */
const fill = (folder: string): string => `
hog = open(${JSON.stringify(join(folder, 'hog'))}, "wb", buffering=0)
try:
    while True: hog.write(bytes(4096))
except OSError: pass
`;

for (const freePages of [0, 1, 2, 3, 4, 16]) {
  test(`${freePages} pages free when a run starts: the program runs, and what is missing is said`, async t => {
    const on = placeOnDisk(t, 4 * MB);
    if (on === null) return;
    const { place, disk, env } = on;
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'hog'), Buffer.alloc((bavail - freePages) * bsize));
    const script = place.write(
      'job.py',
      `${DRIVER_SCRIPT}for i in range(100): alloc(4096)\nprint("ran")\nos._exit(7)\n`,
    );
    const { status, signal, stdout, stderr } = await place.run([...quiet, '--', python, script], env);
    assert.deepEqual([status, signal, stdout], [7, null, 'ran\n'], stderr);
    assert.ok(ours(stderr).length > 0, stderr);
    assert.ok(stderr.includes(disk), stderr);
    if (freePages === 0) assert.equal(ours(stderr).length, 1, stderr);
    if (freePages === 0) assertSentence(stderr);
  });
}

test('no space when a run ends: trace and report are written on another disk, and nothing stays', async t => {
  const on = placeOnDisk(t, 8 * MB);
  if (on === null) return;
  const { place, disk, env } = on;
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(${20 * MB})\n${fill(disk)}sys.exit(7)\n`);
  const { status, stderr, report } = await place.trace([python, script], env);
  assert.equal(status, 7, stderr);
  assert.equal(live(report), 20 * MB);
  assert.equal(report.processes[0]?.exitCode, 7);
  assert.deepEqual(ours(stderr).slice(1), [], stderr); // the first says how little was free
  assert.deepEqual(readdirSync(join(disk, 'run/gpu-memory-trace')), []);
  const again = await place.run(['report', place.path('t.gputrace'), '--format', 'json']);
  assert.equal(live(JSON.parse(again.stdout) as Report), 20 * MB);
});

test('no space for the trace or the report: the folder is named, and can be read', async t => {
  const on = placeOnDisk(t, 8 * MB);
  if (on === null) return;
  const { place, disk, env } = on;
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(${20 * MB})\n${fill(disk)}sys.exit(7)\n`);
  const { status, stderr } = await place.run(
    [...quiet, '--report', join(disk, 'report.json'), '--', python, script],
    env,
  );
  assert.equal(status, 7, stderr);
  const sentences = ours(stderr).slice(1);
  assert.equal(sentences.length, 2, stderr);
  assertSentence(sentences.join('\n').replace(/(\/traces\/)[^/]+/, '$1FOLDER'));
  const directory = stderr.trimEnd().split('\n').at(-1) ?? '';
  assert.equal(dirname(directory), join(disk, 'run/gpu-memory-trace'));
  assert.deepEqual(
    readdirSync(disk).filter(name => name.startsWith('report')),
    [],
  );
  const shown = await place.run(['report', directory, '--format', 'json']);
  assert.equal(live(JSON.parse(shown.stdout) as Report), 20 * MB);
});

test('the trace directory is deleted while the program runs: all of it is saved, and that is said', async t => {
  const place = new Place(t);
  const gone = 'import shutil\nshutil.rmtree(os.environ["GPU_MEMTRACE_DIR"])\n';
  const wait = `while os.path.exists("job.py") and not os.path.exists("go"): time.sleep(0.01)\n`;
  const script = place.write('job.py', `${DRIVER_SCRIPT}${LEAKY_STEPS}${wait}${gone}sys.exit(7)\n`);
  const words = ['run', '--simulate-gpu', '--interval', '0.1', '-o', place.path('t.gputrace')];
  const run = place.start([...words, '--report', place.path('report.json'), '--', python, script]);
  await run.printedText('LEAK: '); // a log that the launcher has not seen yet goes with its directory
  const [directory] = readdirSync(place.path('run/gpu-memory-trace'));
  const named = place.path('run/gpu-memory-trace', directory ?? '');
  place.write('go', '');
  const { status, stderr } = await run.ended;
  assert.equal(status, 7, stderr);
  const others = ours(stderr).filter(line => !/LEAK: |Process \d+ is traced\.$/.test(line));
  assert.equal(others.length, 1, stderr);
  assert.ok(stderr.includes(named), stderr);
  assert.equal(live(place.readJson<Report>('report.json')), 20 * MB);
  assert.equal(existsSync(named), false);
  const again = await place.run(['report', place.path('t.gputrace'), '--format', 'json']);
  const report = JSON.parse(again.stdout) as Report;
  assert.equal(live(report), 20 * MB);
  assert.equal(report.processes[0]?.exitCode, 7);
});

test('a limit of file sizes ends neither the program nor the launcher', async t => {
  const place = new Place(t);
  const script = place.write('job.py', `${DRIVER_SCRIPT}for i in range(20000): free(alloc(4096))\nsys.exit(7)\n`);
  const line = `ulimit -f 1024; exec ${process.execPath} ${join(dist, 'cli.js')} "$@"`;
  const words = [...quiet, '--report', place.path('report.json'), '--', python, script];
  const { status, stderr } = spawnSync('/bin/sh', ['-c', line, 'sh', ...words], { env: place.env, encoding: 'utf8' });
  assert.equal(status, 7, stderr);
  const { lost } = place.readJson<Report>('report.json');
  assert.ok((lost.byCause['file size limit'] ?? 0) > 1000, JSON.stringify(lost));
  rmSync(place.path('report.json'));
});
