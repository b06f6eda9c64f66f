// Metrics as OTLP and as Prometheus's text: names, kinds, hostile words; and where they go by OpenTelemetry's variables.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { otlpJson, otlpServer } from '../../../extension/exporters/otlp';
import { prometheusText } from '../../../extension/exporters/prometheus';
import type { Metric } from '../../../extension/protocol/metrics';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const live: Metric = {
  ...{ name: 'gpu_memtrace.tensor.live', unit: 'By', description: 'Live.', kind: 'sum' },
  points: [{ value: 5, attributes: { 'host.name': 'a "b"\\\n', rank: 0, simulated: true } }],
};
const growth: Metric = {
  ...{ name: 'gpu_memtrace.leak.bytes_per_step', unit: 'By/{step}', description: 'Growth.', kind: 'gauge' },
  points: [{ value: 1.5, attributes: {} }],
};
const count: Metric = {
  ...{ name: 'gpu_memtrace.oom.count', unit: '{failure}', description: 'Failures.', kind: 'counter' },
  points: [{ value: 2, attributes: { 'process.pid': 7 } }],
};

test('as Prometheus’s text: names with unit and kind, words with their signs escaped', t => {
  const text = prometheusText([live, growth, count]);
  assert.equal(
    text,
    `# HELP gpu_memtrace_tensor_live_bytes Live.
# TYPE gpu_memtrace_tensor_live_bytes gauge
gpu_memtrace_tensor_live_bytes{host_name="a \\"b\\"\\\\\\n",rank="0",simulated="true"} 5
# HELP gpu_memtrace_leak_bytes_per_step Growth.
# TYPE gpu_memtrace_leak_bytes_per_step gauge
gpu_memtrace_leak_bytes_per_step{} 1.5
# HELP gpu_memtrace_oom_count_total Failures.
# TYPE gpu_memtrace_oom_count_total counter
gpu_memtrace_oom_count_total{process_pid="7"} 2
`,
  );
  const { status, stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  if (error) return t.diagnostic('promtool is not here: it did not look at this.');
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('as OTLP: sums and gauges, numbers of 64 bits as text', () => {
  const { resourceMetrics } = JSON.parse(otlpJson([live, growth, count], { 'service.name': 's' }, 1_000, 2_500)) as {
    resourceMetrics: { resource: unknown; scopeMetrics: { metrics: Record<string, unknown>[] }[] }[];
  };
  const [{ resource, scopeMetrics } = { resource: null, scopeMetrics: [] }] = resourceMetrics;
  assert.deepEqual(resource, { attributes: [{ key: 'service.name', value: { stringValue: 's' } }] });
  const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2500000000' };
  const attributes = [
    { key: 'host.name', value: { stringValue: 'a "b"\\\n' } },
    { key: 'rank', value: { intValue: '0' } },
    { key: 'simulated', value: { boolValue: true } },
  ];
  const [first, second, third] = scopeMetrics[0]?.metrics ?? [];
  assert.deepEqual(first, {
    ...{ name: 'gpu_memtrace.tensor.live', unit: 'By', description: 'Live.' },
    sum: { dataPoints: [{ attributes, ...times, asInt: '5' }], aggregationTemporality: 2, isMonotonic: false },
  });
  assert.deepEqual(second?.gauge, { dataPoints: [{ attributes: [], ...times, asDouble: 1.5 }] });
  assert.equal((third?.sum as { isMonotonic?: boolean } | undefined)?.isMonotonic, true);
});

const url = (address: string, env: NodeJS.ProcessEnv = {}): string => {
  const server = otlpServer(address, env, '');
  return 'error' in server ? server.error : server.url.href;
};

test('metrics go to the address that was named, else to that of the variables, else to the usual one', () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318/in/',
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m:1/x',
  };
  assert.equal(url(''), 'http://localhost:4318/v1/metrics');
  assert.equal(url('', env), 'http://m:1/x');
  assert.equal(url('', { ...env, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: '' }), 'http://all:4318/in/v1/metrics');
  assert.equal(url('https://named', env), 'https://named/v1/metrics');
  assert.equal(url('http://named/v1/metrics?key=1', env), 'http://named/v1/metrics?key=1');
});

test('what is no address is said, without the password in it', () => {
  assertSentence(url('', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }));
  assertSentence(url('http://c:99999'));
  assertSentence(url('', { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://x' }));
  const secret = url('http://me:secret@host');
  assertSentence(secret);
  assert.doesNotMatch(secret, /secret/);
});

test('headers and resource are what the variables say', () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%2Cb, x-team = ml ,broken',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-team=gpu',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=trainer,deployment.environment=lab%',
  };
  const server = otlpServer('', env, 'one');
  assert.ok(!('error' in server));
  assert.deepEqual(Object.fromEntries(server.headers), {
    ...{ authorization: 'Bearer a,b', 'x-team': 'gpu', 'content-type': 'application/json' },
  });
  const resource = { 'service.instance.id': 'one', 'deployment.environment': 'lab%' };
  assert.deepEqual(server.resource, { ...resource, 'service.name': 'trainer' });
  const named = otlpServer('', { ...env, OTEL_SERVICE_NAME: 'mine' }, 'one');
  assert.deepEqual('error' in named || named.resource, { ...resource, 'service.name': 'mine' });
  const none = otlpServer('', {}, 'one');
  assert.deepEqual('error' in none || none.resource['service.name'], 'gpu-memtrace');
  const unsendable = url('', { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=%0asecret%0d%0ax' });
  assertSentence(unsendable);
  assert.doesNotMatch(unsendable, /secret/);
});
