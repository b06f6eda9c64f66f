// Jobs that make more events than their budget has room for.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LONG } from '../../long.mjs';
import { kill, Place, python, type Report, until, workload } from '../launcher';

const MB = 1024 ** 2;
/** The job's events are 1.6 times what it has room for. */
const BUDGET = (LONG ? 32 : 20) * MB;
const PAIRS = LONG ? 200_000 : 125_000;
const words = (place: Place, pairs: number, budget: number, ...pace: string[]): string[] => [
  ...[
    'run',
    '--simulate-gpu',
    '--format',
    'none',
    '-o',
    place.path('t.gputrace'),
    '--report',
    place.path('report.json'),
  ],
  ...['--holders', 'never', '--detail', '1MB', '--budget', String(budget)],
  ...['--', python, workload('churn'), '--threads', '4', '--pairs', String(pairs), ...pace],
];

/** Where the run records, once it does. */
async function directoryOf(place: Place): Promise<string> {
  const root = place.path('run/gpu-memory-trace');
  const find = (): string | undefined => (existsSync(root) ? readdirSync(root)[0] : undefined);
  await until(() => find() !== undefined);
  return join(root, find() ?? '');
}

function recorderOf(directory: string): number | null {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const program = words.findLastIndex(word => word.endsWith('gpu-memtrace-recorder')); // an emulator may stand before it
      if (program >= 0 && words[program + 1] === directory) return Number(pid);
    } catch {
      // It ended.
    }
  }
  return null;
}

/** Holds the directory's lock. Before it does, another recorder that starts takes the directory. */
function records(pid: number | null): boolean {
  const folder = `/proc/${pid}/fdinfo`;
  try {
    return readdirSync(folder).some(file => readFileSync(join(folder, file), 'utf8').includes('\nlock:'));
  } catch {
    return false; // It ended, or closed a file meanwhile.
  }
}

const folded = (directory: string): boolean => readdirSync(directory).some(name => name.endsWith('.gmtcheck'));

function bytesIn(directory: string): number {
  const sizes = readdirSync(directory).map(name => statSync(join(directory, name), { throwIfNoEntry: false })?.blocks);
  return sizes.reduce<number>((sum, blocks) => sum + (blocks ?? 0) * 512, 0);
}

/** The report agrees with the job's own account, but for what was lost. */
function compare(stdout: string, report: Report): void {
  const { made } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { made: number };
  const [row] = report.totals.filter(({ layer }) => layer === 'tensor');
  assert.ok(row !== undefined);
  if (report.lost.events === 0) assert.equal(row.allocations, made);
  else assert.ok(row.allocations <= made && made - row.allocations <= report.lost.events);
}

test('a job that makes more events than stay in full loses none, and its saved trace says the same', async t => {
  const place = new Place(t);
  // As fast as the recorder gives room: on a busy machine it takes longer, and loses nothing either.
  const run = place.start(words(place, PAIRS, BUDGET, '--paced'));
  const directory = await directoryOf(place);
  let [most, folds] = [0, false];
  const watch = setInterval(() => {
    if (!existsSync(directory)) return;
    most = Math.max(most, bytesIn(directory));
    folds ||= folded(directory);
  }, 5);
  const { status, stdout, stderr } = await run.ended;
  clearInterval(watch);
  assert.equal(status, 0, stderr);
  const report = place.readJson<Report>('report.json');
  assert.deepEqual(report.lost, { events: 0, byCause: {} });
  compare(stdout, report);
  assert.ok(folds && most > 4 * MB && most <= BUDGET, `${most} bytes`);
  const saved = await place.run([
    'report',
    place.path('t.gputrace'),
    '--format',
    'json',
    '-o',
    place.path('again.json'),
  ]);
  assert.equal(saved.status, 0, saved.stderr);
  const again = place.readJson<Report>('again.json');
  assert.deepEqual(
    [again.totals, again.lost, again.allocations.length],
    [report.totals, report.lost, report.allocations.length],
  );
  const early = await place.run(['report', place.path('t.gputrace'), '--format', 'json', '--at', '50%']);
  if (early.status !== 0) assert.match(early.stderr, /^gpu-memtrace: [^\n]+ no longer stored[^\n]+\n$/);
  assert.equal(recorderOf(directory), null);
});

test('a recorder that is killed is started again, and one that is held up costs events that are counted', async t => {
  const place = new Place(t);
  const run = place.start(words(place, LONG ? 500_000 : 200_000, 16 * MB));
  const directory = await directoryOf(place);
  for (let kills = 0; kills < 2; kills++) {
    await until(() => recorderOf(directory) !== null && (kills > 0 || folded(directory)));
    kill(recorderOf(directory) ?? 0);
    await until(() => recorderOf(directory) === null);
  }
  await until(() => records(recorderOf(directory)));
  process.kill(recorderOf(directory) ?? NaN, 'SIGSTOP');
  const inTheMiddle = await place.run(['report', directory, '--format', 'json', '-o', place.path('middle.json')]);
  assert.equal(inTheMiddle.status, 0, inTheMiddle.stderr);
  const { status, stdout, stderr } = await run.ended;
  assert.equal(status, 0, stderr);
  const report = place.readJson<Report>('report.json');
  assert.deepEqual(Object.keys(report.lost.byCause), ['budget']);
  compare(stdout, report);
});
