// `report` in the formats of other tools and of other moments, on stored traces and on a job that was just traced.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { Profile } from 'pprof-format';
import { askPython } from '../unit/exporters/python';
import { LONG } from '../long.mjs';
import { Place, python, root, workload, type Report } from './launcher';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const golden = join(root, 'test/golden/trace');
const traces = readdirSync(golden)
  .filter(name => name.endsWith('.gputrace'))
  .map(name => join(golden, name));

/** Bytes alive on a layer, over all processes and devices. */
const liveBytes = (report: Report, layer: string): number =>
  report.totals.filter(total => total.layer === layer).reduce((sum, total) => sum + total.liveBytes, 0);

async function reported(place: Place, trace: string, ...more: string[]): Promise<Report> {
  const { status, stdout, stderr } = await place.run(['report', trace, '--format', 'json', ...more]);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Report;
}

async function exported(place: Place, trace: string, format: string, ...more: string[]): Promise<Buffer> {
  const file = place.path(`x.${format}`);
  const { status, stdout, stderr } = await place.run(['report', trace, '--format', format, '-o', file, ...more]);
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  assert.ok(!existsSync(`${file}.part`));
  return readFileSync(file);
}

function rowsOf(file: Buffer): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: Uint8Array.from(file).buffer });
}

const alive = (rows: Record<string, unknown>[], layer: string): number =>
  rows.filter(row => row.layer === layer && row.end_ns === null).reduce((sum, row) => sum + Number(row.bytes), 0);

for (const trace of [...(LONG ? traces : traces.slice(-1)), 'a job just traced']) {
  test(`the formats agree with the report: ${trace.replace(golden, '')}`, async t => {
    const place = new Place(t);
    if (!existsSync(trace)) await place.trace([python, workload('train_simulator'), '--sleep-ms', '1']);
    const file = existsSync(trace) ? trace : place.path('t.gputrace');
    const report = await reported(place, file);
    const rows = await rowsOf(await exported(place, file, 'parquet'));
    for (const layer of ['tensor', 'driver', 'host']) {
      assert.equal(alive(rows, layer), liveBytes(report, layer), layer);
      const made = report.totals
        .filter(total => total.layer === layer)
        .reduce((sum, total) => sum + total.allocations, 0);
      assert.equal(rows.filter(row => row.layer === layer && row.kind !== 'import').length, made, layer);
    }
    const csv = (await exported(place, file, 'csv')).toString().trimEnd().split('\r\n');
    assert.equal(csv.length, rows.length + 1);
    const profile = Profile.decode(gunzipSync(await exported(place, file, 'pprof')));
    for (const [i, type] of profile.sampleType.entries()) {
      const [, layer = ''] = /^(\w+)_live_space$/.exec(profile.stringTable.strings[Number(type.type)] ?? '') ?? [];
      if (layer === '') continue;
      const sum = profile.sample.reduce((bytes, sample) => bytes + Number(sample.value[i]), 0);
      assert.equal(sum, liveBytes(report, layer), layer);
    }
    const events = JSON.parse((await exported(place, file, 'perfetto')).toString()) as { traceEvents: unknown[] };
    assert.ok(events.traceEvents.length > rows.length);
  });

  test(`the snapshot holds what is alive: ${trace.replace(golden, '')}`, async t => {
    const place = new Place(t);
    if (!existsSync(trace)) await place.trace([python, workload('train_simulator'), '--sleep-ms', '1']);
    const file = existsSync(trace) ? trace : place.path('t.gputrace');
    await exported(place, file, 'pytorch-snapshot');
    const code = `import json, pickle, sys
snapshot = pickle.load(open(sys.argv[1], "rb"))
blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"]
events = [e for trace in snapshot["device_traces"] for e in trace]
print(json.dumps({"live": sum(b["size"] for b in blocks), "simulated": snapshot["gpu_memory_trace"]["simulated"],
  "alloc": sum(e["action"] == "alloc" for e in events), "free": sum(e["action"] == "free_completed" for e in events)}))`;
    const read = askPython<Record<string, unknown>>('python3', code, place.path('x.pytorch-snapshot'));
    const report = await reported(place, file);
    const sum = (value: (total: Report['totals'][number]) => number): number =>
      report.totals.filter(({ layer }) => layer === 'tensor').reduce((all, total) => all + value(total), 0);
    assert.deepEqual(read, {
      live: sum(total => total.liveBytes),
      simulated: true,
      alloc: sum(total => total.allocations),
      free: sum(total => total.frees),
    });
  });
}

test('of an earlier moment: table, JSON and exports agree', async t => {
  const place = new Place(t);
  const file = join(golden, 'steps.gputrace');
  const report = await reported(place, file, '--at', '50%');
  const rows = await rowsOf(await exported(place, file, 'parquet', '--at', '50%'));
  assert.ok(liveBytes(report, 'tensor') > 0);
  assert.equal(alive(rows, 'tensor'), liveBytes(report, 'tensor'));
  const { stdout } = await place.run(['report', file, '--at', '50%']);
  assertSentence(linesOf(stdout, /^AT /));
});

test('between two moments: what was allocated then and was alive at the end of it', async t => {
  const place = new Place(t);
  const file = join(golden, 'steps.gputrace');
  const all = await rowsOf(await exported(place, file, 'parquet', '--at', '90%'));
  const begin = (row: Record<string, unknown>): number => Number(row.begin_ns);
  const [from, to] = [0.3, 0.9].map(part => part * (Math.max(...all.map(begin)) + 1)) as [number, number];
  const words = ['--between', `${from / 1e9}s`, '90%'];
  const report = await reported(place, file, ...words);
  const rows = await rowsOf(await exported(place, file, 'parquet', ...words));
  const expected = all.filter(row => row.end_ns === null && begin(row) >= from);
  assert.ok(expected.length > 0 && to > from);
  assert.deepEqual(rows.map(row => row.address).sort(), expected.map(row => row.address).sort());
  assert.deepEqual(
    report.allocations.map(({ address }) => BigInt(address)).sort(),
    rows.map(row => row.address).sort(),
  );
  assert.equal(alive(rows, 'tensor'), liveBytes(report, 'tensor'));
});

test('at the end of a step', async t => {
  const place = new Place(t);
  const file = join(golden, 'steps.gputrace');
  const early = await reported(place, file, '--at', 'step:2');
  const late = await reported(place, file, '--at', 'step:3');
  const made = ({ totals }: Report): number => totals.reduce((sum, total) => sum + total.allocations, 0);
  assert.ok(made(early) < made(late));
});

test('bytes go to stdout where it is no terminal', async t => {
  const place = new Place(t);
  const { status, stdout } = await place.run(['report', traces[0] ?? '', '--format', 'csv']);
  assert.equal(status, 0);
  assert.match(stdout, /^address,bytes,layer,/);
});

test('table and JSON go to a file as well', async t => {
  const place = new Place(t);
  const words = ['report', traces[0] ?? '', '--format', 'json'];
  const { stdout } = await place.run(words);
  const { status, stdout: nothing } = await place.run([...words, '-o', place.path('x.json')]);
  assert.deepEqual([status, nothing], [0, '']);
  assert.equal(readFileSync(place.path('x.json'), 'utf8'), stdout);
});

test('what cannot be done is one sentence', async t => {
  const place = new Place(t);
  const file = join(golden, 'steps.gputrace');
  const cases: [string[], number][] = [
    [['--format', 'csv', '-o', '/proc/no/x.csv'], 1],
    [['--at', '1h'], 2],
    [['--between', '90%', '10%'], 2],
    [['--at', 'step:9999'], 2],
  ];
  for (const [words, expected] of cases) {
    const { status, stdout, stderr } = await place.run(['report', file, ...words]);
    assert.deepEqual([status, stdout, stderr.trim().split('\n').length], [expected, '', 1], stderr);
    assertSentence(stderr);
  }
});
