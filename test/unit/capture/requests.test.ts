// Questions to the agent: how they are written, and what is said where no answer comes.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { besideFound, queryProcess, refusalOf, writeQuestion } from '../../../extension/capture/traces/requests';
import type { Answer, AnswerInfo, ProcessInfo, TraceInfo } from '../../../extension/protocol/trace';
import { makeInfo, makeProcess } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'requests-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
const written = (directory: string, number: number): unknown =>
  JSON.parse(readFileSync(join(directory, `request-${number}.json`), 'utf8'));

/** A process that answers at the `answersAt`-th poll, or ends at the `endsAt`-th. */
class FakeTrace {
  polls = 0;
  constructor(
    private readonly process: ProcessInfo,
    private readonly answersAt = Infinity,
    private readonly endsAt = Infinity,
    private readonly request = 1,
  ) {}
  info(): TraceInfo {
    const { polls, request } = this;
    const facts: AnswerInfo = { process: 0, index: 5, request, timeNs: 1, complete: polls > this.answersAt };
    return makeInfo({
      processes: [{ ...this.process, ended: this.process.ended || polls >= this.endsAt }],
      answers: polls >= this.answersAt ? [facts] : [],
      steps: [
        {
          process: 0,
          source: 'optimizer',
          count: 9,
          lastEndNs: 1,
          sure: true,
          alone: false,
          parts: false,
          idleNs: 0,
          poolsNs: 0,
          touched: 0,
        },
      ],
    });
  }
  answer({ index }: { index: number }): Answer | null {
    return index === 5 ? { process: 0, index, request: 1, timeNs: 1, complete: true, text: '{}', blocks: [] } : null;
  }
  settle(): Promise<void> {
    this.polls++;
    return Promise.resolve();
  }
}

test('a question of our own has its own budget, and waits for the end of a step', t => {
  const directory = folder(t);
  assert.equal(writeQuestion(directory, 4711, { blocks: [], budgetMs: 80, atStep: true }), 1);
  const own = { id: 1, pid: 4711, do: 'holders', addresses: [], budgetMs: 80, at: 'step' };
  assert.deepEqual(written(directory, 1), own);
});

test('questions are numbered over all processes, and appear whole', t => {
  const directory = folder(t);
  const block = { address: 0x7f0000000400n, bytes: 1024, device: 0, lines: [{ file: '/t.py', line: 29 }] };
  assert.equal(writeQuestion(directory, 4711, { blocks: [block] }), 1);
  assert.equal(writeQuestion(directory, 4712, { blocks: [] }), 2);
  assert.deepEqual(written(directory, 1), {
    id: 1,
    pid: 4711,
    do: 'holders',
    addresses: [['0x7f0000000400', 1024, 0, [['/t.py', 29]]]],
    budgetMs: 500,
  });
  assert.deepEqual(written(directory, 2), { id: 2, pid: 4712, do: 'holders', addresses: [], budgetMs: 500 });
  writeFileSync(join(directory, 'request-41.json'), '{}');
  assert.equal(writeQuestion(directory, 4711, { blocks: [] }), 42);
  assert.deepEqual(readdirSync(directory).sort(), [1, 2, 41, 42].map(n => `request-${n}.json`).sort());
});

test('why a process cannot be asked', () => {
  const refusal = (process: Partial<ProcessInfo>, session = {}, directory: string | null = '/t'): string | null =>
    refusalOf(makeInfo({ session }), makeProcess(process), directory);
  assert.equal(refusal({}), null);
  assertSentence(refusal({}, { backend: 'uprobe' }));
  assertSentence(refusal({ driverSource: 'uprobe' }));
  assertSentence(refusal({ ended: true }));
  assertSentence(refusal({}, {}, null));
  assertSentence(refusal({ python: null }));
  const off = { code: 9, text: 'The agent is switched off (GPU_MEMTRACE_AGENT=0).' };
  assert.match(refusal({ notes: [off] }) ?? '', /GPU_MEMTRACE_AGENT=0/);
  assertSentence(refusalOf(makeInfo({}), undefined, '/t'));
  assert.equal(besideFound('Found.', refusal({ ended: true }) ?? ''), 'Found.', 'it has its answer');
  assert.notEqual(besideFound('Found.', refusal({ python: null }) ?? ''), 'Found.');
});

test('the answer is waited for until all of it is there', async t => {
  const trace = new FakeTrace(makeProcess({}), 2);
  const result = await queryProcess(trace, folder(t), 0, { blocks: [] }, { limitMs: 10_000 });
  assert.ok('answer' in result && result.answer.text === '{}', JSON.stringify(result));
  assert.ok(trace.polls > 2);
});

test('the answer to another question is not taken', async t => {
  const trace = new FakeTrace(makeProcess({}), 0, Infinity, 7);
  const result = await queryProcess(trace, folder(t), 0, { blocks: [] }, { limitMs: 10 });
  assert.ok('sentence' in result, JSON.stringify(result));
  assertSentence(result.sentence);
});

test('no answer is one sentence: it ended, it is busy, nobody waits, the folder is gone', async t => {
  const directory = folder(t);
  const sentence = async (
    trace: FakeTrace,
    limitMs = 10_000,
    signal?: AbortSignal,
    where = directory,
  ): Promise<string> => {
    const result = await queryProcess(trace, where, 0, { blocks: [] }, { limitMs, ...(signal && { signal }) });
    return 'sentence' in result ? result.sentence : 'answered';
  };
  assertSentence(await sentence(new FakeTrace(makeProcess({}), Infinity, 2)));
  assertSentence(await sentence(new FakeTrace(makeProcess({})), 60));
  assertSentence(await sentence(new FakeTrace(makeProcess({})), 10_000, AbortSignal.abort()));
  assertSentence(await sentence(new FakeTrace(makeProcess({})), 10, undefined, '/no/such'));
  assertSentence(await sentence(new FakeTrace(makeProcess({ ended: true }))));
});
