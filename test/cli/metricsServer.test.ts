// Metrics of a run, as a server gets them and as they stand in a file; and servers that are of no use.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Report } from '../../extension/report/documents/reportDocument';
import { DRIVER_SCRIPT, Place, python, workload, type Ended } from './launcher';
import { withoutNumbers } from '../masked.mjs';
import { sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Value {
  stringValue?: string;
  intValue?: string;
  boolValue?: boolean;
}
interface Point {
  attributes: { key: string; value: Value }[];
  asInt?: string;
  asDouble?: number;
}
interface Request {
  resourceMetrics: {
    resource: { attributes: { key: string; value: Value }[] };
    scopeMetrics: {
      metrics: {
        name: string;
        unit: string;
        sum?: { dataPoints: Point[]; isMonotonic: boolean };
        gauge?: { dataPoints: Point[] };
      }[];
    }[];
  }[];
}

const SUFFIXES: Record<string, string> = { By: '_bytes' };
const plain = ({ stringValue, intValue, boolValue }: Value): string => stringValue ?? intValue ?? String(boolValue);

/** Values by name and attributes, as Prometheus has them. */
function samples(request: Request | undefined): Map<string, number> {
  const metrics = request?.resourceMetrics.flatMap(one => one.scopeMetrics.flatMap(scope => scope.metrics)) ?? [];
  return new Map(
    metrics.flatMap(({ name, unit, sum, gauge }) => {
      const full = `${name.replaceAll('.', '_')}${SUFFIXES[unit] ?? ''}${sum?.isMonotonic ? '_total' : ''}`;
      return (sum ?? gauge)!.dataPoints.map(({ attributes, asInt, asDouble }): [string, number] => {
        const labels = attributes.map(({ key, value }) => `${key.replaceAll('.', '_')}="${plain(value)}"`);
        return [`${full}{${labels.join(',')}}`, Number(asInt ?? asDouble)];
      });
    }),
  );
}

/** The same of a file in Prometheus's format. */
function fileSamples(text: string): Map<string, number> {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]));
}

/** A server on a port of its own, gone after the test. */
async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => answer(request, body, response));
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const EVERY = { OTEL_METRIC_EXPORT_INTERVAL: '200' };
const RUN = ['run', '--simulate-gpu', '--format', 'none'];

/** A program that ends with 7, once these files are there. */
function runShort(place: Place, options: string[], env: NodeJS.ProcessEnv = {}, files: string[] = []): Promise<Ended> {
  const wait = `while not all(map(os.path.exists, ${JSON.stringify(files)})): time.sleep(0.01)`;
  const program = place.write('short.py', `${DRIVER_SCRIPT}alloc(4096)\n${wait}\nsys.exit(7)\n`);
  return place.run([...RUN, ...options, '--', python, program], env);
}

test('the last metrics of a job are what its report says, at the server and in the file', async t => {
  const place = new Place(t);
  const requests: { request: Request; header: unknown; path: string | undefined }[] = [];
  const url = await serve(t, (request, body, response) => {
    const [header, path] = [request.headers['x-key'], request.url];
    requests.push({ request: JSON.parse(body) as Request, header, path });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const words = [...RUN, '--report', place.path('report.json'), '--otlp', '--prometheus', place.path('gpu.prom')];
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'me',
  };
  const job = { ...variables, RANK: '3', WORLD_SIZE: '8', LOCAL_RANK: '1', GPU_MEMTRACE_RUN: 'r"1' };
  const program = [python, workload('sample_train'), '--seconds', '0.5'];
  const { status, stderr } = await place.run([...words, '--', ...program], job);
  assert.deepEqual([status, stderr], [0, '']);

  const first = requests[0];
  assert.deepEqual([first?.header, first?.path], ['a b', '/v1/metrics']);
  const [service] =
    first?.request.resourceMetrics[0]?.resource.attributes.filter(({ key }) => key === 'service.name') ?? [];
  assert.equal(service?.value.stringValue, 'me');

  const report = place.readJson<Report>('report.json');
  const last = samples(requests.at(-1)?.request);
  const { host, gpus } = report.processes[0]!.rank!;
  const gpu = gpus[0];
  const pid = report.processes[0]!.pid;
  const process = `host_name="${host}",run="r"1",rank="3",local_rank="1",world_size="8",process_pid="${pid}"`;
  const whole = `host_name="${host}",run="r"1",process_pid="${pid}",simulated="true"`;
  const own = `${process},device="0",hw_id="${gpu}",simulated="true"`;
  const total = (layer: string): Report['totals'][number] => report.totals.find(one => one.layer === layer)!;
  const [ledger, leak] = [report.ledger[0]!, report.findings[0]!];
  const expected = new Map<string, number | null>([
    [`hw_gpu_memory_limit_bytes{${whole},hw_id="${gpu}",hw_name="Simulated GPU",hw_type="gpu"}`, ledger.totalBytes],
    [`gpu_memtrace_tensor_live_bytes{${own}}`, total('tensor').liveBytes],
    [`gpu_memtrace_tensor_peak_bytes{${own}}`, total('tensor').peakBytes],
    [`gpu_memtrace_driver_live_bytes{${own}}`, total('driver').liveBytes],
    [`gpu_memtrace_driver_peak_bytes{${own}}`, total('driver').peakBytes],
    [`gpu_memtrace_reserved_bytes{${own}}`, ledger.reservedBytes],
    [`gpu_memtrace_category_bytes{${own},category="unnamed"}`, ledger.tensorBytes],
    [
      `gpu_memtrace_leak_bytes_per_step{${whole},layer="tensor",file="${leak.place?.file}",line="114"}`,
      leak.bytesPerStep,
    ],
    [`gpu_memtrace_oom_count_total{${whole}}`, report.oom.length],
    [`gpu_memtrace_lost_events_total{${whole}}`, report.lost.events],
    [`gpu_memtrace_steps_total{${process},simulated="true"}`, report.steps.count],
    [`gpu_memtrace_running{${process},simulated="true"}`, 0],
  ]);
  assert.deepEqual([leak.verdict, leak.place?.line, report.steps.count], ['leak', 114, 160]);
  assert.deepEqual(last, expected);
  const file = readFileSync(place.path('gpu.prom'), 'utf8');
  assert.deepEqual(fileSamples(file.replaceAll('r\\"1', 'r"1')), expected);
  assert.deepEqual(
    readdirSync(place.folder).filter(name => name.includes('.part')),
    [],
  );
});

test('a server that refuses is told once and counted, and the program ends as it ends', async t => {
  const place = new Place(t);
  let seen = 0;
  const url = await serve(t, (_request, _body, response) => {
    if (++seen === 2) place.write('refused', '');
    response.writeHead(503).end();
  });
  const { status, stderr } = await runShort(place, ['--otlp', `${url}/in?key=secret`], EVERY, ['refused']);
  assert.equal(status, 7);
  const [first, count, ...more] = stderr.trim().split('\n');
  assert.ok(first?.includes(` ${url}/in/v1/metrics: `), stderr);
  assertSentence(first);
  const [, failures, tries] = / (\d+) \S+ (\d+) /.exec(count?.replace(url, '') ?? '') ?? [];
  assert.ok(Number(failures) > 1 && failures === tries, stderr);
  assertSentence(withoutNumbers(count ?? ''));
  assert.deepEqual(more, []);
});

test('a server that never answers does not keep the end back, nor does one that is not there', async t => {
  const place = new Place(t);
  const silent = await serve(t, () => undefined);
  const { status, stderr } = await runShort(place, ['--otlp', silent]);
  assert.equal(status, 7);
  assertSentence(stderr);
  const gone = await new Promise<number>(done => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
  const noServer = await runShort(place, ['--otlp', `http://127.0.0.1:${gone}`]);
  assert.equal(noServer.status, 7);
  assertSentence(noServer.stderr);
});

test('metrics come while the program runs, and those still under way at its end give way to the last ones', async t => {
  const place = new Place(t);
  const running: number[] = [];
  const url = await serve(t, (_request, body, response) => {
    const all = [...samples(JSON.parse(body) as Request)];
    running.push(...all.filter(([name]) => name.startsWith('gpu_memtrace_running')).map(([, value]) => value));
    place.write('seen', '');
    if (running.includes(0)) response.end();
  });
  const targets = ['--otlp', url, '--prometheus', 'gpu.prom'];
  const { status, stderr } = await runShort(place, targets, EVERY, ['seen', 'gpu.prom']);
  assert.deepEqual([status, stderr, running], [7, '', [1, 0]]);
});

test('what a server takes only in part is said, and where it sends us to gets nothing', async t => {
  const place = new Place(t);
  const part = await serve(t, (_request, _body, response) =>
    response.end('{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too many"}}'),
  );
  const { stderr } = await runShort(place, ['--otlp', part]);
  assertSentence(stderr);
  let reached = 0;
  const other = await serve(t, (_request, _body, response) => void response.end(String(reached++)));
  const away = await serve(t, (_request, _body, response) => void response.writeHead(307, { location: other }).end());
  const moved = await runShort(place, ['--otlp', away]);
  assertSentence(moved.stderr);
  assert.equal(reached, 0);
});

test('a file that cannot be written on the way is told once; one that cannot be at all keeps the program from starting', async t => {
  const place = new Place(t);
  const program = `${DRIVER_SCRIPT}alloc(4096)\nos.mkdir(sys.argv[1])\nsys.exit(7)\n`;
  const blocked = [...RUN, '--prometheus', 'gpu.prom', '--', python, place.write('blocks.py', program)];
  const { status, stderr } = await place.run([...blocked, place.path('gpu.prom')]);
  assert.equal(status, 7);
  assertSentence(stderr);
  const none = await runShort(place, ['--prometheus', place.path('none/gpu.prom')]);
  assert.deepEqual([none.status, none.stdout], [125, '']);
  assertSentence(none.stderr);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' };
  const odd = await runShort(place, ['--otlp'], env);
  assert.equal(odd.status, 125);
  assertSentence(odd.stderr);
});
