// The uprobe tracer on the simulated GPU: its traces hold exactly what the jobs say of themselves, as the in-process
// tracer's do. It needs root, or a tracer with capabilities; elsewhere each test says that it was skipped.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { inLong } from '../../long.mjs';
import { check, lastLine, type Facts } from '../facts';
import {
  dist,
  DRIVER_SCRIPT,
  FIRST_LINE,
  kill,
  Place,
  python,
  SIMULATED,
  workload,
  type Ended,
  type Report,
} from '../launcher';
import { placeOnDisk } from './smallDisk';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const tracer = join(dist, 'native/gpu-memtrace-uprobe');

/** Why these tests cannot run here; null where they can. */
const problem = ((): string | null => {
  if (!existsSync(tracer)) return 'the uprobe tracer was not built';
  const { status, stdout } = spawnSync(tracer, ['self-test'], { encoding: 'utf8' });
  if (status === 0) return null;
  const { message } = JSON.parse(stdout || '{}') as { message?: string };
  return `attaching is not possible here: ${message ?? 'the self-test failed'}`;
})();

function uprobeTest(name: string, body: (t: TestContext) => Promise<void>): void {
  test(name, async t => (problem === null ? body(t) : t.skip(problem)));
}

/** Runs a command from its start under one of the tracers. */
async function traced(
  t: TestContext,
  command: string[],
  backend = 'uprobe',
  env: NodeJS.ProcessEnv = {},
): Promise<Ended & { report: Report }> {
  const place = new Place(t);
  const options = ['--backend', backend, '--simulate-gpu', '--format', 'none', '--report', place.path('r.json')];
  const ended = await place.run(['run', ...options, '--', ...command], env);
  assert.equal(ended.status, 0, ended.stderr);
  const report = place.readJson<Report>('r.json');
  assert.deepEqual(report.lost, { events: 0, byCause: {} });
  return { ...ended, report };
}

for (const [name, words] of Object.entries({
  'one process': ['train_simulator', '--sleep-ms', '2'],
  'five threads': ['gpu_mem_threads_leak', '--duration', '1', '--sleep-ms', '5'],
  'one anomalous allocation': ['gpu_alloc_anomaly', '--sleep-ms', '5'],
})) {
  inLong(uprobeTest)(`${name}: what is alive, with its thread and line, and the sums`, async t => {
    const [script = '', ...rest] = words;
    const ended = await traced(t, [python, workload(script), ...rest]);
    check(ended.report, lastLine<Facts>(ended));
  });
}

inLong(uprobeTest)('four processes', async t => {
  const ended = await traced(t, [python, workload('gpu_mem_stressor'), '--duration', '1', '--leak-prob', '0.3']);
  const { processes } = lastLine<{ processes: Facts[] }>(ended);
  assert.equal(processes.length, 4);
  for (const facts of processes) check(ended.report, facts);
});

uprobeTest('children of every kind', async t => {
  const ended = await traced(t, [python, workload('fork_spawn_exec')]);
  const { parent, children } = lastLine<{ parent: Facts; children: (Facts & { live?: unknown })[] }>(ended);
  check(ended.report, parent);
  for (const child of children.filter(({ live }) => live !== undefined)) check(ended.report, child);
});

inLong(uprobeTest)('out of memory is data', async t => {
  const ended = await traced(t, [python, workload('oom')], 'uprobe', { GPU_MEMTRACE_SIM_MEMORY: '1GiB' });
  const facts = lastLine<Facts & { failedBytes: number }>(ended);
  check(ended.report, facts);
  assert.ok(
    ended.report.oom.some(({ layer, requestedBytes }) => layer === 'tensor' && requestedBytes === facts.failedBytes),
  );
});

uprobeTest('both tracers see the same: sums by layer, and sites by line', async t => {
  const command = [python, workload('train_simulator'), '--sleep-ms', '1'];
  const [inside, outside] = [await traced(t, command, 'inject'), await traced(t, command)];
  assert.deepEqual(sums(outside.report), sums(inside.report));
  assert.deepEqual(lines(outside.report), lines(inside.report));
});

const sums = ({ totals }: Report): unknown =>
  totals
    .map(({ layer, device, liveBytes, peakBytes, allocations, frees, failed }) => {
      return { layer, device, liveBytes, peakBytes, allocations, frees, failed };
    })
    .sort((a, b) => a.layer.localeCompare(b.layer) || a.device - b.device);

/** Live bytes and blocks by layer and innermost line. */
function lines({ sites }: Report): Record<string, [bytes: number, count: number]> {
  const sum = new Map<string, [number, number]>();
  for (const { layer, frames, liveBytes, liveCount } of sites.filter(site => site.liveCount > 0)) {
    const key = `${layer} ${frames[0]?.file}:${frames[0]?.line}`;
    const [bytes, count] = sum.get(key) ?? [0, 0];
    sum.set(key, [bytes + liveBytes, count + liveCount]);
  }
  return Object.fromEntries([...sum].sort(([a], [b]) => a.localeCompare(b)));
}

interface Job extends ChildProcess {
  pid: number;
  stdout: NonNullable<ChildProcess['stdout']>;
}

/** A job that runs before anybody traces it, and makes one step more with each call of `next`. */
async function startJob(t: TestContext, place: Place, step: string): Promise<{ job: Job; next(): Promise<string> }> {
  const body = `kept = [alloc(${5 * MB})]
def step():
${step.replace(/^/gm, '    ')}
print("ready", flush=True)
for line in sys.stdin:
    step()
    print("done", len(kept), flush=True)
sys.exit(7)
`;
  const script = place.write('job.py', `${DRIVER_SCRIPT}${body}`);
  const env = { ...process.env, LD_LIBRARY_PATH: SIMULATED.LD_LIBRARY_PATH };
  const job = spawn(python, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] }) as Job;
  t.after(() => job.kill('SIGKILL'));
  const lines = createInterface({ input: job.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const next = async (): Promise<string> => {
    job.stdin?.write('\n');
    return (await lines.next()).value ?? '';
  };
  return { job, next };
}

const STEP = 'for i in range(50): kept.append(alloc(1 << 20))\nfor i in range(20): free(kept.pop())';

uprobeTest('attach to a running job: what it does from then on, exactly; after detaching it goes on', async t => {
  const place = new Place(t);
  const { job, next } = await startJob(t, place, STEP);
  await next(); // before: not in the trace
  const started = place.start(['attach', String(job.pid), '-o', 't.gputrace', '--report', 'r.json']);
  await started.printedText('Attached');
  assert.equal(await next(), 'done 61');
  process.kill(started.pid, 'SIGINT');
  const { status, stderr } = await started.ended;
  assert.equal(status, 0, stderr);
  const report = place.readJson<Report>('r.json');
  const [total] = report.totals.filter(({ layer }) => layer === 'driver');
  assert.deepEqual([total?.allocations, total?.frees], [50, 20]);
  const seen = report.allocations.filter(({ ageSeconds, bytes }) => ageSeconds >= 0 && bytes === MB);
  assert.equal(seen.length, 30);
  const site = report.sites.find(({ id }) => id === seen[0]?.site);
  const at = site?.frames.map(({ file, line }) => `${file}:${line}`);
  assert.deepEqual(at?.slice(1), [
    `${place.path('job.py')}:${FIRST_LINE + 2}`,
    `${place.path('job.py')}:${FIRST_LINE + 6}`,
  ]);
  assert.deepEqual(report.lost, { events: 0, byCause: {} });
  const notes = report.processes.flatMap(process => process.notes).join('\n');
  assertSentence(linesOf(notes, /nvidia-smi/));
  assert.equal(await next(), 'done 91');
  job.stdin?.end();
  assert.equal(await new Promise(done => job.once('exit', done)), 7);
});

uprobeTest('what the job held before is one sum of the figure that nvidia-smi has', async t => {
  const place = new Place(t);
  const { job, next } = await startJob(t, place, STEP);
  const smi = place.write('nvidia-smi', `#!/bin/sh\necho "${job.pid}, 300"\n`);
  chmodSync(smi, 0o755);
  const env = { PATH: `${place.path('.')}:${process.env.PATH ?? ''}` };
  const started = place.start(['attach', String(job.pid), '--report', 'r.json'], env);
  await started.printedText('Attached');
  await next();
  job.stdin?.end();
  const { status, stderr } = await started.ended;
  assert.equal(status, 0, stderr);
  const { allocations, totals, processes } = place.readJson<Report>('r.json');
  const { sites } = place.readJson<{ sites: (Report['sites'][number] & Record<'lineSource' | 'verdict', string>)[] }>(
    'r.json',
  );
  const sum = sites.find(({ lineSource }) => lineSource === 'before-attach');
  assert.deepEqual([sum?.verdict, sum?.liveBytes, sum?.frames], ['before-attach', 300 * MB, []]);
  assert.deepEqual(
    allocations.filter(({ site }) => site === sum?.id).map(({ bytes, device }) => [bytes, device]),
    [[300 * MB, -1]], // as all memory of this job, whose context was made before
  );
  const [total] = totals.filter(({ layer }) => layer === 'driver');
  assert.equal(total?.liveBytes, 330 * MB);
  assert.match(stderr, /300 MiB in 1 +pre-existing /);
  assertSentence(linesOf(processes.flatMap(process => process.notes).join('\n'), /300 MiB/));
});

uprobeTest('the end of the job ends the tracing', async t => {
  const place = new Place(t);
  const { job, next } = await startJob(t, place, STEP);
  const started = place.start(['attach', String(job.pid), '--report', 'r.json']);
  await started.printedText('Attached');
  await next();
  job.stdin?.end();
  const { status, stderr } = await started.ended;
  assert.equal(status, 0, stderr);
  const [total] = place.readJson<Report>('r.json').totals.filter(({ layer }) => layer === 'driver');
  assert.deepEqual([total?.allocations, total?.frees], [50, 20]);
});

uprobeTest('a tracer that is killed leaves the job as it was', async t => {
  const place = new Place(t);
  const { job, next } = await startJob(t, place, STEP);
  const started = place.start(['attach', String(job.pid)]);
  await started.printedText('Attached');
  await next();
  kill(-started.pid);
  await started.ended;
  assert.equal(await next(), 'done 61');
  job.stdin?.end();
  assert.equal(await new Promise(done => job.once('exit', done)), 7);
});

uprobeTest('no space for a log: the program runs, and that it is not recorded is said', async t => {
  const on = placeOnDisk(t, 4 * MB);
  if (on === null) return;
  const { place, disk, env } = on;
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'hog'), Buffer.alloc((bavail - 2) * bsize)); // the launcher's own two files find room
  const script = place.write('job.py', `${DRIVER_SCRIPT}alloc(4096)\nsys.exit(7)\n`);
  const words = ['run', '--backend', 'uprobe', '--simulate-gpu', '--format', 'none', '--', python, script];
  const { status, stderr } = await place.run(words, env);
  assert.equal(status, 7, stderr);
  assertSentence(linesOf(stderr, /^gpu-memtrace: /));
  assert.deepEqual(readdirSync(join(disk, 'run/gpu-memory-trace')), []);
});
