// What is written of a program that ran out of memory: the kind, the line, and first of all what helps. On the simulated GPU of 1 GiB, whose
// caching allocator follows PyTorch's rules; leaks and batches are in test/torch.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Place, python, root, workload, type Ended } from './launcher';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const HEAD = `import sys; sys.path.insert(0, ${JSON.stringify(join(root, 'test/workloads'))})
import gpu
MB = 1 << 20
`;
const nvml = join(root, 'build/native/test/native/agent_nvml');

interface Advice {
  kind: string;
  text: string;
  bytes: number;
}
interface Failure {
  cause: string;
  wentOn: boolean | null;
  advice: Advice[];
  noAdvice: string | null;
  aliveByLine: { line: string; bytes: number }[];
}
interface Run extends Ended {
  place: Place;
  failures: Failure[];
  /** The files that were written beside the trace, by their names. */
  documents: Map<string, string>;
}

async function traced(t: TestContext, body: string, env: NodeJS.ProcessEnv = {}, options: string[] = []): Promise<Run> {
  const place = new Place(t);
  const script = place.write('job.py', HEAD + body);
  const words = ['run', '--simulate-gpu', '-o', place.path('t.gputrace'), '--report', place.path('report.json')];
  const ended = await place.run([...words, ...options, '--', python, script], {
    GPU_MEMTRACE_SIM_MEMORY: '1GiB',
    ...env,
  });
  const names = readdirSync(place.folder).filter(name => name.endsWith('.md'));
  const documents = new Map(names.map(name => [name, readFileSync(place.path(name), 'utf8')]));
  return { place, ...ended, documents, failures: place.readJson<{ oom: Failure[] }>('report.json').oom };
}

/** The newest failure, and the one document, with the name that stands on stderr. */
function only({ failures, documents, stderr, place }: Run): { failure: Failure; document: string } {
  const [[name, document] = ['', '']] = documents;
  assert.equal(documents.size, 1, stderr);
  assert.ok(stderr.includes(place.path(name)), stderr);
  assert.match(name, /^oom-\d+\.md$/);
  const failure = failures.findLast(one => one.cause !== undefined);
  assert.ok(failure);
  return { failure, document };
}

const FRAGMENTS = `first = [gpu.empty(50 * MB) for _ in range(18)]
del first
kept = [gpu.empty(30 * MB) for _ in range(18)]
for step in range(60):
    gpu.empty(MB)
last = gpu.empty(200 * MB)
`;

test('fragmentation: segments that grow give what lies unused between the blocks', async t => {
  const run = await traced(t, FRAGMENTS);
  const { failure, document } = only(run);
  assert.deepEqual([run.status, failure.cause, failure.wentOn], [1, 'fragmentation', false]);
  assert.equal(failure.advice[0]?.kind, 'segments');
  assert.equal(failure.advice[0]?.bytes, 18 * 20 * MB);
  assert.match(document, /^# .*: 200 MiB .*\n\n`job\.py:9` .* 200 MiB .* GPU 0, /);
  assert.match(document, /status 1\.\n\n\*\*.* 20 MiB\.\*\*/);
  assert.match(document, /^1\. .* \*\*.* 360 MiB\.\*\*/m);
  assertSentence(linesOf(document, /^(#|`job|\*\*|1\.|- )/));
  assert.match(
    document,
    /^\| `job\.py:6 <listcomp>` \| 540 MiB \| 18 \|$|^\| `job\.py:6 <module>` \| 540 MiB \| 18 \|$/m,
  );
  assert.match(document, /^\| .* 20 MiB \| 360 MiB \|$/m);
  assertSentence(linesOf(document, /\| (360 MiB|1 GiB) \|$/));
  assert.match(
    document,
    /^\| `expandable_segments:True` \| 1\.1× the recorded batch \|\n\| a smaller batch \| 0\.9× /m,
  );
  assertSentence(linesOf(document, /^(## What would|The run was replayed)/));
  const traceback = run.stderr.indexOf('gpu.OutOfMemory: CUDA out of memory');
  const shown = run.stderr.search(/\n {2}Try first \(.* 360 MiB\): /);
  assert.ok(traceback > 0 && shown > traceback, run.stderr);
  assert.equal(run.stderr.split('360 MiB): ').length, 2, 'the line stands once');
});

test('one huge request: in so many parts it fits, and so it does', async t => {
  const job = (parts: number): string => `base = gpu.empty(400 * MB)
for part in range(${parts}):
    block = gpu.empty(900 * MB // ${parts})
    del block
    gpu.empty_cache()
`;
  const { failure, document } = only(await traced(t, job(1)));
  assert.equal(failure.cause, 'big-request');
  assertSentence(failure.advice[0]?.text);
  assert.equal(failure.advice[0]?.bytes, 450 * MB);
  assert.match(document, /`job\.py:6` .* 900 MiB/);
  const again = await traced(t, job(2));
  assert.deepEqual([again.status, again.documents.size, again.failures.length], [0, 0, 0]);
});

test('a request bigger than the GPU: nothing is advised, and why', async t => {
  const { failure, document } = only(await traced(t, 'block = gpu.empty(20 << 30)\n'));
  assert.deepEqual(failure.advice, []);
  assertSentence(failure.noAdvice);
  assert.ok(document.includes(`\n${failure.noAdvice}\n`), document);
});

test('another process holds a part of the GPU that matters', async t => {
  // 375 MB in use, 325 MB by another process
  const env = { LD_LIBRARY_PATH: nvml, GMT_NVML_UNIT: String(MB >> 3), GMT_NVML_OWN: '400', GMT_NVML_READ: 'read' };
  const run = await traced(
    t,
    `import os, time
kept = [gpu.empty(100 * MB) for _ in range(8)]
while not os.path.exists("read"): time.sleep(0.01)
for step in range(60):
    gpu.empty(MB)
last = gpu.empty(250 * MB)
`,
    env,
  );
  const { failure, document } = only(run);
  assert.equal(failure.cause, 'other-process');
  assert.equal(failure.advice[0]?.kind, 'processes');
  assert.equal(failure.advice[0]?.bytes, 325 * MB);
  assert.match(document, /`job\.py:9` .* 250 MiB/);
  assert.match(document, /^\| other \w+ \| 325 MiB \|$/m);
  assert.doesNotMatch(document, /What would fit/);
});

test('what is caught and tried again is told in one line, and in the document', async t => {
  const run = await traced(
    t,
    `size = 1600
while True:
    try:
        block = gpu.empty(size * MB)
        break
    except gpu.OutOfMemory:
        size //= 2
`,
  );
  const { failure, document } = only(run);
  assert.deepEqual([run.status, failure.wentOn], [0, true]);
  assertSentence(linesOf(document, /^(\*\*|`job)/));
  const end = run.stderr.slice(run.stderr.lastIndexOf('simulated.'));
  assert.match(end, /^OUT OF .*: 1\.56 GiB .*\/oom-\d+\.md$/m);
  assertSentence(linesOf(end, /^OUT OF/));
  assert.doesNotMatch(end, /Try first/);
});

test('with --format json, stdout has the document alone, and stderr what to try', async t => {
  const { stdout, stderr } = await traced(t, FRAGMENTS, {}, ['--format', 'json']);
  assert.equal(stdout, '');
  assert.match(stderr, /^OUT OF .*: 200 MiB .*\n {2}Try first \(.* 360 MiB\): /m);
});

test('a stored run on a real GPU: the leak comes first, then the limit that it ran into, and no other process', async t => {
  const place = new Place(t);
  const stored = readFileSync(join(root, 'test/golden/leaks/d08_oom.gputrace.gz'));
  writeFileSync(place.path('real.gputrace'), gunzipSync(stored));
  const { stdout } = await place.run(['report', place.path('real.gputrace'), '--oom']);
  assert.match(stdout, /^\*\*.* d08_oom\.py:6 /m);
  assert.match(stdout, /^1\. `__main__\.cache` .* 1\.36 GiB\.\*\*$[^]*^2\. .* 134 GiB available\.\*\*/m);
  assertSentence(linesOf(stdout, /^(\*\*|\d\.)/));
  assert.match(stdout, /^\| outside PyTorch: cuBLAS \(libcublas\.so\.13\) \| 64\.13 MiB \|$/m);
  assert.doesNotMatch(stdout, /nvidia-smi/);
});

test('report --oom prints all failures that are kept, newest last; -o writes them', async t => {
  const { place } = await traced(
    t,
    `for size in (1600, 2100):
    try:
        block = gpu.empty(size * MB)
    except gpu.OutOfMemory:
        pass
`,
  );
  const { stdout, status } = await place.run(['report', place.path('t.gputrace'), '--oom']);
  assert.equal(status, 0);
  const heads = [...stdout.matchAll(/^# (.*)$/gm)].map(([, head]) => head);
  assert.deepEqual(
    heads.map(head => /[\d.]+ GiB/.exec(head ?? '')?.[0]),
    ['1.56 GiB', '2.05 GiB'],
  );
  assertSentence(linesOf(stdout, /^(# |.* see)/));
  await place.run(['report', place.path('t.gputrace'), '--oom', '-o', place.path('all.md')]);
  assert.equal(readFileSync(place.path('all.md'), 'utf8'), stdout);
});

test('where memory never ran out, report --oom says so', async t => {
  const { place, documents } = await traced(t, 'block = gpu.empty(MB)\n');
  assert.equal(documents.size, 0);
  const { stdout, status } = await place.run(['report', place.path('t.gputrace'), '--oom']);
  assert.equal(status, 0);
  assertSentence(stdout);
  const refused = await place.run(['report', place.path('t.gputrace'), '--oom', '--format', 'json']);
  assert.equal(refused.status, 2);
  assertSentence(refused.stderr);
});

test('without -o it lies beside the kept trace; --format none says nothing of it', async t => {
  const place = new Place(t);
  const words = ['run', '--simulate-gpu', '--format', 'none', '--', python, workload('oom')];
  const { stderr, status } = await place.run(words, { GPU_MEMTRACE_SIM_MEMORY: '1GiB' });
  assert.deepEqual([status, stderr], [0, '']);
  const kept = readdirSync(place.path('cache/gpu-memory-trace/traces'), { recursive: true }).map(String);
  assert.ok(
    kept.some(name => /\/oom-\d+\.md$/.test(name)),
    kept.join(),
  );
});
