// Metrics of three jobs of one host on the simulated GPU, read by those who collect them: OpenTelemetry's own schema, promtool, and a
// Prometheus that scrapes a node_exporter.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inRoot } from '../project/root.mjs';

const absent = process.env.GMT_NO_PROMETHEUS || false;
const cli = inRoot('dist/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-metrics-'));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'textfiles'));
mkdirSync(join(folder, 'run'), { mode: 0o700 });

/** A server on a port of its own: {url, close}. */
async function listen(answer) {
  const server = createServer(answer);
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, port: server.address().port, close: () => server.close() };
}

const bodies = [];
const collector = await listen((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', text => (body += text));
  request.on('end', () => {
    bodies.push({ rank: request.headers['x-rank'], body });
    response.setHeader('content-type', 'application/json').end('{"partialSuccess":{}}');
  });
});
after(() => collector.close());

/** One rank: the report of its trace, as `gpu-memtrace report` gives it, and its last metrics by the schema. */
async function runRank(rank, words, env = {}) {
  const trace = join(folder, `${rank}.gputrace`);
  const file = join(folder, 'textfiles', `gpu-${rank}.prom`);
  const all = [
    'run',
    '--simulate-gpu',
    '--format',
    'none',
    '-o',
    trace,
    '--otlp',
    '--prometheus',
    file,
    '--',
    ...words,
  ];
  const job = { RANK: String(rank), WORLD_SIZE: '3', GPU_MEMTRACE_RUN: 'three "ranks"\\' };
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: `x-rank=${rank}` };
  const own = { XDG_CACHE_HOME: folder, XDG_RUNTIME_DIR: join(folder, 'run'), OTEL_METRIC_EXPORT_INTERVAL: '200' };
  const child = spawn(process.execPath, [cli, ...all], {
    ...{ cwd: folder, env: { ...process.env, ...job, ...variables, ...own, ...env } },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text));
  const status = await new Promise(done => child.once('close', done));
  assert.deepEqual([status, stderr], [0, ''], `rank ${rank}`);
  const json = execFileSync(process.execPath, [cli, 'report', trace, '--format', 'json'], { maxBuffer: 1 << 28 });
  return { report: JSON.parse(String(json)), file };
}

const workload = name => inRoot('test/workloads', `${name}.py`);
const library = inRoot('build/native/test/native/inject/libother_test.so');
const ranks = await Promise.all([
  runRank(0, ['python3', workload('sample_train'), '--seconds', '1']),
  runRank(1, ['python3', workload('oom')], { GPU_MEMTRACE_SIM_MEMORY: '1GiB' }),
  runRank(2, ['python3', workload('libraries'), library]),
]);

/** Parsed by what protoc made of OpenTelemetry's files, which takes no field and no type that it does not know. */
const READ = `import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
plain = lambda value: getattr(value, value.WhichOneof("value"))
def points(metric):
    kind = metric.WhichOneof("data")
    for point in getattr(metric, kind).data_points:
        assert 0 < point.start_time_unix_nano < point.time_unix_nano
        assert kind == "gauge" or metric.sum.aggregation_temporality == 2
        attributes = {one.key: plain(one.value) for one in point.attributes}
        yield {"name": metric.name, "value": getattr(point, point.WhichOneof("value")), "attributes": attributes}
for line in sys.stdin:
    request = json_format.Parse(json.loads(line), ExportMetricsServiceRequest())
    [resource] = request.resource_metrics
    assert {one.key: plain(one.value) for one in resource.resource.attributes}["service.name"] == "gpu-memtrace"
    print(json.dumps([point for scope in resource.scope_metrics for metric in scope.metrics for point in points(metric)]))
`;
const parsed = execFileSync(process.env.GMT_METRICS_PYTHON, ['-c', READ], {
  ...{ input: bodies.map(({ body }) => `${JSON.stringify(body)}\n`).join(''), encoding: 'utf8', maxBuffer: 1 << 28 },
});
const requests = parsed
  .trim()
  .split('\n')
  .map((line, i) => ({ rank: Number(bodies[i].rank), points: JSON.parse(line) }));
const lastOf = rank => requests.findLast(request => request.rank === rank).points;

/** What the last metrics of a rank have to say, by its report: name, value, and what of the attributes tells it apart. */
function* expected({ report }) {
  const [process] = report.processes;
  for (const { layer, liveBytes, peakBytes } of report.totals) {
    yield [`gpu_memtrace.${layer}.live`, liveBytes, {}];
    yield [`gpu_memtrace.${layer}.peak`, peakBytes, {}];
  }
  for (const { reservedBytes, totalBytes, usedBytes, libraries } of report.ledger) {
    if (reservedBytes !== null) yield ['gpu_memtrace.reserved', reservedBytes, {}];
    if (totalBytes !== null) yield ['hw.gpu.memory.limit', totalBytes, { 'hw.type': 'gpu' }];
    if (usedBytes !== null) yield ['hw.gpu.memory.usage', usedBytes, { 'hw.type': 'gpu' }];
    for (const { name, bytes } of libraries) yield ['gpu_memtrace.outside', bytes, { library: name }];
  }
  const categories = new Map();
  for (const { layer, category, bytes } of report.allocations)
    if (layer === 'tensor') categories.set(category, (categories.get(category) ?? 0) + bytes);
  for (const [category, bytes] of categories) yield ['gpu_memtrace.category', bytes, { category }];
  for (const { verdict, cause, bytesPerStep, place, layer, library: made } of report.findings)
    if (verdict === 'leak' || (verdict === 'oom' && cause === 'leak' && bytesPerStep > 0)) {
      const line = place === null ? {} : { file: place.file, line: place.line };
      yield ['gpu_memtrace.leak.bytes_per_step', bytesPerStep, { layer, ...line, ...(made && { library: made }) }];
    }
  yield ['gpu_memtrace.oom.count', report.oomCount ?? report.oom.length, {}];
  yield ['gpu_memtrace.lost.events', report.lost.events, {}];
  for (const { count, source } of report.steps.processes)
    if (source !== 'time') yield ['gpu_memtrace.steps', count, {}];
  yield ['gpu_memtrace.running', process.ended ? 0 : 1, {}];
}

const sorted = list => list.map(one => JSON.stringify(one)).sort();
const COMMON = ['host.name', 'run', 'rank', 'world_size', 'process.pid', 'device', 'hw.id', 'hw.name', 'simulated'];
const told = ({ name, value, attributes }) => {
  const own = Object.entries(attributes).filter(([key]) => !COMMON.includes(key));
  return [name, value, Object.fromEntries(own.sort())];
};

test('by OpenTelemetry’s schema, the last metrics of each rank are what its report says', () => {
  for (const [rank, ran] of ranks.entries()) {
    const wanted = [...expected(ran)].map(([name, value, own]) => [
      name,
      value,
      Object.fromEntries(Object.entries(own).sort()),
    ]);
    assert.deepEqual(sorted(lastOf(rank).map(told)), sorted(wanted), `rank ${rank}`);
    for (const { name, attributes } of lastOf(rank)) {
      assert.deepEqual([attributes.run, attributes.simulated], ['three "ranks"\\', true], name);
      assert.equal(attributes['process.pid'], ran.report.processes[0].pid, name);
      if (/tensor|driver|steps|running|outside/.test(name))
        assert.deepEqual([attributes.rank, attributes.world_size], [rank, 3]);
    }
  }
  const said = name =>
    ranks.map((_, rank) =>
      lastOf(rank)
        .filter(point => point.name === name)
        .map(({ value }) => value),
    );
  assert.ok(said('gpu_memtrace.oom.count').flat()[1] > 0);
  assert.equal(said('gpu_memtrace.outside')[2].length, 2);
  assert.deepEqual(
    said('gpu_memtrace.leak.bytes_per_step').map(values => values.length > 0),
    [true, false, true], // what fills the GPU may be weights that are loaded
  );
});

test('promtool has nothing to say of the files', { skip: absent }, () => {
  for (const { file } of ranks) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: readFileSync(file),
      encoding: 'utf8',
    });
    assert.deepEqual([status, stdout, stderr], [0, '', ''], file);
  }
  assert.equal(readdirSync(join(folder, 'textfiles')).length, ranks.length);
});

/** Starts a server on a free port, and waits until it answers there. */
async function startServer(t, words) {
  const { port, url, close } = await listen(() => undefined);
  close();
  const child = spawn(
    words[0],
    words.slice(1).map(word => word.replace('PORT', port)),
    { cwd: folder, stdio: 'ignore' },
  );
  t.after(() => child.kill('SIGKILL'));
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise(done => setTimeout(done, 50)))
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return { port, url };
  throw new Error(`${words[0]} did not answer.`);
}

test('a Prometheus that scrapes a node_exporter has the same values, of all ranks', { skip: absent }, async t => {
  const collectors = [
    '--collector.disable-defaults',
    '--collector.textfile',
    `--collector.textfile.directory=${join(folder, 'textfiles')}`,
  ];
  const exporter = await startServer(t, [
    'prometheus-node-exporter',
    '--web.listen-address=127.0.0.1:PORT',
    ...collectors,
  ]);
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'node', static_configs: [{ targets: [`127.0.0.1:${exporter.port}`] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const files = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
  const { url } = await startServer(t, ['prometheus', '--web.listen-address=127.0.0.1:PORT', ...files]);
  const query = async text => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`);
    return (await answer.json()).data?.result ?? [];
  };
  for (
    const end = Date.now() + 60_000;
    Date.now() < end && (await query('gpu_memtrace_running')).length < ranks.length;
  )
    await new Promise(done => setTimeout(done, 100));
  assert.deepEqual(
    (await query('node_textfile_scrape_error')).map(({ value }) => value[1]),
    ['0'],
  );
  const point = ({ metric: { __name__: name, ...labels }, value }) => [
    name,
    Object.fromEntries(
      Object.entries(labels)
        .filter(([key]) => key !== 'instance' && key !== 'job')
        .sort(),
    ),
    Number(value[1]),
  ];
  const names = {
    'gpu_memtrace.leak.bytes_per_step': 'gpu_memtrace_leak_bytes_per_step',
    'gpu_memtrace.running': 'gpu_memtrace_running',
  };
  const counters = /oom|lost|steps/;
  const wanted = ranks.flatMap((_, rank) =>
    lastOf(rank).map(({ name, attributes, value }) => {
      const suffix = counters.test(name) ? '_total' : '_bytes';
      const labels = Object.entries(attributes).map(([key, text]) => [key.replace('.', '_'), String(text)]);
      return [names[name] ?? `${name.replaceAll('.', '_')}${suffix}`, Object.fromEntries(labels.sort()), value];
    }),
  );
  assert.deepEqual(sorted((await query('{__name__=~"(gpu_memtrace|hw_gpu)_.*"}')).map(point)), sorted(wanted));
});
