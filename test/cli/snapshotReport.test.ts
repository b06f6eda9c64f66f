// Memory snapshots of PyTorch: the command line shows them as it shows traces, and runs nothing that they hold.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { formatBytes } from '../../extension/text/format';
import { LONG } from '../long.mjs';
import { dist, Place, python, until, workload, type Report as ShortReport } from './launcher';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Report extends ShortReport {
  findings: { verdict: string; sites: number[]; bytesPerStep: number }[];
  steps: { source: string; count: number };
  pools: { kind: string; id: string; reservedBytes: number; liveBytes: number; unusedBytes: number }[];
  sites: (ShortReport['sites'][0] & { verdict: string })[];
}
interface Snapshot {
  blocks: number;
  bytes: number;
  reserved: number;
}

function snapshot(place: Place, ...options: string[]): Snapshot {
  const words = [workload('snapshots/memory_snapshot'), place.path('x.pickle'), ...options];
  return JSON.parse(execFileSync(python, words, { encoding: 'utf8' })) as Snapshot;
}

async function reported(place: Place): Promise<Report> {
  mkdirSync(place.path('tmp'), { recursive: true });
  const words = ['report', place.path('x.pickle'), '--format', 'json'];
  const { status, stdout, stderr } = await place.run(words, { TMPDIR: place.path('tmp') });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  assert.deepEqual(readdirSync(place.path('tmp')), [], 'what was converted is removed');
  return JSON.parse(stdout) as Report;
}

function liveBytes(report: Report, layer: string): number {
  return report.totals.filter(one => one.layer === layer).reduce((sum, one) => sum + one.liveBytes, 0);
}
function liveBlocks(report: Report): number {
  return report.allocations.filter(one => one.layer === 'tensor').length;
}

for (const protocol of LONG ? ['2', '3', '4', '5'] : ['2', '5']) {
  test(`a snapshot of pickle protocol ${protocol}: what is alive, and the line that leaks`, async t => {
    const place = new Place(t);
    const expected = snapshot(place, '--protocol', protocol);
    const report = await reported(place);
    assert.deepEqual([liveBytes(report, 'tensor'), liveBlocks(report)], [expected.bytes, expected.blocks]);
    assert.equal(liveBytes(report, 'driver'), expected.reserved);
    assert.equal(report.lost.events, 0);
    const leak = report.findings.find(finding => finding.verdict === 'leak');
    const site = report.sites.find(({ id }) => id === leak?.sites[0]);
    assert.deepEqual([site?.userFrame?.line, site?.userFrame?.function], [99, 'remember']);
  });
}

const SHAPES = [
  ['--devices', '2'],
  ['--native'],
  ['--expandable', '--history', '1000'],
  ...(LONG ? [['--expandable']] : []),
];
for (const options of SHAPES) {
  test(`a snapshot with ${options.join(' ')}: the same bytes`, async t => {
    const place = new Place(t);
    const expected = snapshot(place, ...options);
    const report = await reported(place);
    assert.deepEqual([liveBytes(report, 'tensor'), liveBlocks(report)], [expected.bytes, expected.blocks]);
    assert.equal(liveBytes(report, 'driver'), expected.reserved);
  });
}

test('ranges of a profiler whose names count steps are steps', async t => {
  const place = new Place(t);
  snapshot(place, '--annotated', '--devices', '2');
  const report = await reported(place);
  assert.deepEqual([report.steps.source, report.steps.count], ['program', 80]);
  const leak = report.findings.find(finding => finding.verdict === 'leak');
  assert.equal(leak?.bytesPerStep, 2 * 2048);
});

test('annotations say where a moment was, and are slices; what was written beside a block finds it', async t => {
  const place = new Place(t);
  snapshot(place, '--annotated', '--devices', '2');
  const output = async (...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await place.run(['report', place.path('x.pickle'), ...words]);
    assert.deepEqual([status, stderr], [0, '']);
    return stdout;
  };
  assertSentence(linesOf(await output('--at', '50%'), /ProfilerStep/));
  assert.match(await output('--at', 'peak'), /, in “ProfilerStep#\d+ › forward”, at /);
  const { traceEvents } = JSON.parse(await output('--format', 'perfetto')) as {
    traceEvents: { cat?: string; ph: string; name: string; ts: number; id2: { local: string } }[];
  };
  const slices = traceEvents.filter(({ cat }) => cat === 'range');
  assert.equal(slices.length, 80 * 2 * 2);
  const names = slices.filter(({ ph }) => ph === 'b').map(({ name, id2 }) => [name, id2.local]);
  assert.deepEqual(names.slice(0, 3), [
    ['ProfilerStep#0', '0xc00'],
    ['forward', '0xc01'],
    ['ProfilerStep#1', '0xc00'],
  ]);
  const report = JSON.parse(await output('--format', 'json')) as ShortReport;
  const allocations = report.allocations as ((typeof report.allocations)[0] & { name: string; category: string })[];
  const noted = allocations.filter(({ name }) => name === 'kept by remember()');
  assert.ok(noted.length > 0 && noted.every(({ category }) => category === 'unnamed'));
});

test('private pools: what they keep, and how much of it nothing uses', async t => {
  const place = new Place(t);
  const expected = snapshot(place, '--pool', '3');
  const { pools } = await reported(place);
  const unusedBytes = expected.reserved - expected.bytes;
  const [pool] = pools;
  assert.deepEqual(
    [pools.length, pool?.kind, pool?.id, pool?.reservedBytes, pool?.liveBytes, pool?.unusedBytes],
    [1, 'private', '0:3', expected.reserved, expected.bytes, unusedBytes],
  );
  const { stdout } = await place.run(['report', place.path('x.pickle'), '--group-by', 'pool']);
  const size = (bytes: number): string => formatBytes(bytes);
  const both = new RegExp(` ${size(expected.reserved)}\\b.* ${size(unusedBytes)} `);
  const [row = '', keep = '', ...others] = linesOf(stdout, both).split('\n');
  assert.match(row, /private pool 0:3:/);
  assert.deepEqual(others, []);
  assertSentence(`${row}\n${keep}`);
  snapshot(place);
  assert.deepEqual((await reported(place)).pools, []);
  const common = await place.run(['report', place.path('x.pickle'), '--group-by', 'pool']);
  assert.match(common.stdout, /in 80 +common pool\n/);
});

test('a history that was cut: what was there before it is no leak', async t => {
  const place = new Place(t);
  const expected = snapshot(place, '--history', '1000');
  const report = await reported(place);
  assert.equal(liveBytes(report, 'tensor'), expected.bytes);
  const before = report.sites.filter(site => site.verdict === 'before-attach' && site.layer === 'tensor');
  assert.ok(before.some(site => site.userFrame?.line === 99 && site.liveCount > 40));
  const leaking = report.findings.filter(finding => finding.verdict === 'leak').flatMap(finding => finding.sites);
  for (const site of before) assert.ok(!leaking.includes(site.id));
  const { stdout } = await place.run(['report', place.path('x.pickle')]);
  assert.match(stdout, /train\.py:99 remember \(allocated before /);
  assertSentence(linesOf(stdout, /train\.py:99|^NOTE/));
});

test('out of memory is told with its line', async t => {
  const place = new Place(t);
  snapshot(place, '--oom');
  const report = await reported(place);
  assert.equal(report.oom[0]?.requestedBytes, 2 ** 40);
});

const HOSTILE: [string, string][] = [
  [
    'a call, as pickle makes it',
    `
class Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)
pickle.dump({"segments": [Evil()]}, out, PROTOCOL)`,
  ],
  [
    'an object',
    `
import collections
pickle.dump({"segments": collections.OrderedDict()}, out, PROTOCOL)`,
  ],
  ['deep nesting', 'out.write(b"\\x80\\x04" + b"](" * 3_000_000)'],
  ['a huge length', 'out.write(b"\\x80\\x04\\x8d" + b"\\xff" * 8)'],
  ['no snapshot', 'pickle.dump({"weights": [1.5]}, out, PROTOCOL)'],
  ['no pickle', 'out.write(b"hello")'],
];
for (const [name, write] of HOSTILE) {
  test(`hostile: ${name}: one sentence, and nothing runs`, async t => {
    const place = new Place(t);
    for (const protocol of [2, 5]) {
      const script = `import os, pickle\nPROTOCOL = ${protocol}\nwith open("x.pickle", "wb") as out:\n    pass\nout = open("x.pickle", "wb")\n${write}\n`;
      execFileSync(python, ['-c', script], { cwd: place.folder });
      const { status, stdout, stderr } = await place.run(['report', 'x.pickle']);
      assert.deepEqual([status, stdout], [1, '']);
      assertSentence(stderr);
      assert.ok(!existsSync(place.path('ran')));
    }
  });
}

test('a report never replaces what it reads, by whatever name', async t => {
  const place = new Place(t);
  snapshot(place);
  const bytes = readFileSync(place.path('x.pickle'));
  symlinkSync(place.path('x.pickle'), place.path('link.csv'));
  linkSync(place.path('x.pickle'), place.path('same.csv'));
  for (const name of ['x.pickle', 'link.csv', 'same.csv']) {
    const words = ['report', place.path('x.pickle'), '--format', 'csv', '-o', place.path(name)];
    const { status, stderr } = await place.run(words);
    assert.equal(status, 1);
    assertSentence(stderr);
  }
  const compared = [
    'report',
    place.path('same.csv'),
    '--compare',
    place.path('x.pickle'),
    '-o',
    place.path('x.pickle'),
  ];
  assert.equal((await place.run(compared)).status, 1);
  assert.deepEqual(readFileSync(place.path('x.pickle')), bytes);
  const { stdout } = await place.run(['report', place.path('x.pickle'), '--compare', place.path('same.csv')]);
  assert.ok(stdout.includes(place.path('x.pickle')) && stdout.includes(place.path('same.csv')), stdout);
  assert.doesNotMatch(stdout, /gpu-memtrace-snapshot-/);
});

test('a signal amid unpacking ends the report as it ends any program, and leaves no folder', async t => {
  const place = new Place(t);
  const noise = Buffer.alloc(96 << 20);
  for (let at = 0; at < noise.length; at += 1 << 20) randomFillSync(noise, at, 1 << 20);
  writeFileSync(place.path('x.pickle.gz'), gzipSync(noise, { level: 0 }));
  mkdirSync(place.path('tmp'));
  const report = spawn(process.execPath, [join(dist, 'cli.js'), 'report', place.path('x.pickle.gz')], {
    env: { ...place.env, TMPDIR: place.path('tmp') },
    stdio: 'ignore',
  });
  const ended = new Promise(done => report.on('exit', (_status, signal) => done(signal)));
  await until(() => readdirSync(place.path('tmp')).length > 0);
  report.kill('SIGTERM');
  assert.equal(await ended, 'SIGTERM');
  assert.deepEqual(readdirSync(place.path('tmp')), []);
});
