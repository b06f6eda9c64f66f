import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import {
  Tracer,
  tracerArguments,
  tracerMissing,
  tracerProgram,
  type TracerRequest,
} from '../../../extension/capture/launch/tracer';
import { parseSelfTest, parseTracerLine } from '../../../extension/capture/launch/tracerProtocol';
import { ended, READY, refusal, writeFakeTracer, type Seen, type Step } from '../fakeTracer';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface Traced {
  tracer: Tracer;
  seen(): Seen;
}

function start(t: TestContext, steps: Step[]): Traced {
  const folder = mkdtempSync(join(tmpdir(), 'tracer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = writeFakeTracer(join(folder, 'gpu-memtrace-uprobe'), steps);
  return startProgram(program);
}

function startProgram(program: string): Traced {
  const request: TracerRequest = {
    program,
    pid: process.pid,
    directory: '/trace',
    waitLibraries: false,
    nativeStacks: false,
    budgetBytes: 1000.5,
    earlierBytes: [],
  };
  const tracer = new Tracer(request);
  return { tracer, seen: () => JSON.parse(readFileSync(`${program}.seen`, 'utf8')) as Seen };
}

test('the arguments of the tracer', () => {
  const request = { pid: 12, directory: '/d e', waitLibraries: false, nativeStacks: false };
  const words = (change: Partial<TracerRequest>): string[] =>
    tracerArguments({ ...request, budgetBytes: 1000.5, earlierBytes: [], ...change });
  const plain = ['attach', '--pid', '12', '--directory', '/d e', '--children', '--budget-bytes', '1000'];
  assert.deepEqual(words({}), plain);
  const more = words({ waitLibraries: true, nativeStacks: true });
  assert.deepEqual(more, [...plain, '--native-stacks', '--wait-libraries']);
  assert.deepEqual(words({ earlierBytes: [5, 7] }), [...plain, '--earlier-bytes', '5', '--earlier-bytes', '7']);
});

test('ready, and a detach that was asked for', async t => {
  const { tracer, seen } = start(t, [READY, { say: { type: 'process', pid: 77 } }, 'detach', ended(9, 0)]);
  const ready = await tracer.ready;
  assert.deepEqual(ready, READY.say);
  const { words, session, pid } = seen();
  assert.deepEqual(words.slice(0, 6), ['attach', '--pid', String(process.pid), '--directory', '/trace', '--children']);
  assert.equal(session, pid, 'it leads a session of its own: Ctrl+C in the terminal does not reach it');
  tracer.detach();
  assert.deepEqual(await tracer.ended, { problem: null, lost: 0 });
});

test('the traced program ends', async t => {
  const { tracer } = start(t, [READY, { say: { type: 'exit', pid: process.pid } }, ended(3, 0)]);
  assert.equal((await tracer.ready).type, 'ready');
  assert.deepEqual(await tracer.ended, { problem: null, lost: 0 });
});

test('every refusal comes with its sentence and its code', async t => {
  for (const code of ['no-btf', 'no-bpf', 'no-privilege', 'no-process', 'from-the-future']) {
    const { tracer } = start(t, refusal(code, `Why ${code}.`));
    const expected = { type: 'error', code, message: `Why ${code}.` };
    assert.deepEqual(await tracer.ready, expected);
    assert.deepEqual((await tracer.ended).problem, expected);
  }
});

test('losses are summed; the last word has precedence', async t => {
  const lost = (count: number): Step => ({ say: { type: 'lost', count, cause: 'ring' } });
  const summed = start(t, [READY, lost(5), lost(7), 'detach', ended(100, 13)]);
  await summed.tracer.ready;
  summed.tracer.detach();
  assert.deepEqual(await summed.tracer.ended, { problem: null, lost: 13 });
  const silent = start(t, [READY, lost(5), lost(7), { signal: 'SIGKILL' }]);
  const end = await silent.tracer.ended;
  assert.equal(end.lost, 12);
  assertSentence(end.problem?.message);
});

test('a tracer that breaks off is a failure with its last words', async t => {
  const before = start(t, [{ complain: 'libbpf: one\nlibbpf: no more memory.\n' }, { exit: 3 }]);
  const failed = await before.tracer.ready;
  assert.ok(failed.type === 'error' && failed.code === 'failed');
  assertSentence(failed.message);
  const after = start(t, [READY, { exit: 0 }]);
  assert.equal((await after.tracer.ready).type, 'ready');
  assertSentence((await after.tracer.ended).problem?.message);
});

test('lines that are no messages are passed over, lines in pieces are put together', async t => {
  const line = JSON.stringify(READY.say);
  const pieces: Step[] = [
    { raw: 'libbpf: hello\n{"type":"weather"}\n[]\nnull\n' },
    { raw: line.slice(0, 20) },
    { raw: `${line.slice(20)}\n` },
  ];
  const { tracer } = start(t, [...pieces, ended(0, 0)]);
  assert.deepEqual(await tracer.ready, READY.say);
  assert.deepEqual(await tracer.ended, { problem: null, lost: 0 });
});

test('a tracer that hangs can be killed', async t => {
  const { tracer } = start(t, [READY, 'hang']);
  await tracer.ready;
  tracer.detach();
  tracer.kill();
  assert.deepEqual(await tracer.ended, { problem: null, lost: 0 });
});

test('a detach before the probes are in place', async t => {
  const { tracer } = start(t, ['detach']);
  tracer.detach();
  const ready = await tracer.ready;
  assert.equal(ready.type, 'error');
  assert.equal((await tracer.ended).problem, null);
});

test('a tracer that is missing or cannot be started', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'tracer-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assertSentence(tracerMissing(folder)?.message);
  assert.equal(tracerProgram(folder), join(folder, 'native/gpu-memtrace-uprobe'));
  const plain = join(folder, 'plain');
  for (let attempt = 0; attempt < 2; attempt++) {
    const { tracer } = startProgram(plain);
    const ready = await tracer.ready;
    assert.ok(ready.type === 'error' && ready.code === 'failed');
    assertSentence(ready.message);
    assert.equal((await tracer.ended).problem, ready);
    writeFileSync(plain, 'text');
    chmodSync(plain, 0o644);
  }
});

test('any line gives a message or nothing', () => {
  fc.assert(fc.property(fc.string(), line => void parseTracerLine(line)));
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      parseTracerLine(JSON.stringify(value));
      parseSelfTest(JSON.stringify(value));
    }),
  );
});

test('the self-test’s answer', () => {
  const answer = { bpf: true, btf: true, uprobeMulti: false, perfUprobe: true, privileged: false, message: 'm' };
  assert.deepEqual(parseSelfTest(`${JSON.stringify(answer)}\n`), answer);
  assert.equal(parseSelfTest(''), null);
  assert.equal(parseSelfTest('{"btf":true}'), null);
});
