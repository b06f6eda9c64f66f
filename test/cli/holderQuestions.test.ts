// Questions to a running program, by the command line: what holds a leak. PyTorch is a stand-in.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { BlockDetails } from '../../extension/report/tables/blockDetails';
import type { HolderFound } from '../../extension/protocol/requests/verdictRequests';
import { Place, python, root, type Ended, type Started } from './launcher';
import { withoutNumbers } from '../masked.mjs';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const agentTests = join(root, 'test/native/agent/programs');
const environment = {
  PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}`,
  GPU_MEMTRACE_AGENT_DEVICES: 'all', // the stand-in's tensors are on no device
};
const SCRIPT = `import os, time
import torch, tracing
kept = []
assert tracing.begin()
optimizer = torch.optim.Optimizer()
def train():
    for step in range(60):
        tracing.report(0x100000 + 0x1000 * step, 512)
        kept.append(torch.Tensor(0x100000 + 0x1000 * step))  # HOLD
        optimizer.step()
train()
print("trained", os.getpid(), flush=True)
while True:
    time.sleep(0.01)
`;
/** Blocks of a captured graph; the stand-in has none of its own. */
const SNAPSHOT = `blocks = [{"address": 0x100000 + 0x1000 * i, "size": 512, "requested_size": 500, "state": "active_allocated"} for i in range(60)]
segment = {"device": 0, "address": 0x100000, "stream": 0x5570, "segment_pool_id": (0, 3), "blocks": blocks}
torch._C._cuda_memorySnapshot = lambda pool: {"segments": [segment]}
torch._C._cuda_isHistoryEnabled = lambda: False
torch.cuda.is_initialized = lambda: True
`;
const lineOf = (text: string): number => SCRIPT.split('\n').findIndex(line => line.includes(text)) + 1;

interface Job {
  place: Place;
  job: Started;
  pid: number;
}

/** Starts the script under the tracer; it is ended with the test. */
async function running(t: TestContext, script: string, env: NodeJS.ProcessEnv = environment): Promise<Job> {
  const place = new Place(t);
  const file = place.write('train.py', script);
  const words = ['run', '--simulate-gpu', '--format', 'none', '-o', place.path('t.gputrace')];
  const job = place.start([...words, '--', python, file], env);
  const [, pid] = await job.printed(/trained (\d+)/);
  return { place, job, pid: Number(pid) };
}

const query = (place: Place, words: string[]): Promise<Ended> => place.run(['holders', ...words]);

test('who holds what leaks: path, place, how many', async t => {
  const { place, pid } = await running(t, SCRIPT);
  const { status, stdout, stderr } = await query(place, [String(pid), '--format', 'json']);
  assert.equal(status, 0, stderr);
  const { questions } = JSON.parse(stdout) as {
    questions: { title: string; pid: number; sentence: string; holders: HolderFound[] }[];
  };
  const leak = questions.find(({ title }) => / 512 B /.test(title));
  assert.ok(leak, stdout);
  assert.equal(leak.pid, pid);
  const [holder] = leak.holders;
  assert.equal(holder?.path, '__main__.kept[...]');
  assert.deepEqual([holder?.kind, holder?.length, holder?.line], ['container', 60, lineOf('# HOLD')]);
  assert.ok((holder?.count ?? 0) >= 50, String(holder?.count));
  assertSentence(withoutNumbers(leak.sentence));
});

test('who holds a line’s blocks, one address; what cannot be asked is one sentence', async t => {
  const { place, pid } = await running(t, SCRIPT);
  const line = await query(place, [String(pid), '--line', `train.py:${lineOf('0x1000 * step, 512')}`]);
  assert.equal(line.status, 0, line.stderr);
  assert.match(line.stdout, /60 blocks, 30 KiB: __main__\.kept\[\.\.\.\] \(60 items\) at train\.py:\d+, container/);
  const address = await query(place, [String(pid), '--address', '0x103000']);
  assert.match(address.stdout, /1 block, 512 B: __main__\.kept/);
  // The storage’s own size; this PyTorch has no snapshot.
  assertSentence(linesOf(address.stdout, /^ {2}.* 512 B .*\.$/));
  const none = await query(place, [String(pid), '--address', '0xdead000']);
  assert.equal(none.status, 1);
  assertSentence(none.stderr);
  const elsewhere = await query(place, [String(pid), '--line', 'other.py:3']);
  assertSentence(elsewhere.stderr);
});

test('what was asked for a block, its stream and its pool, as PyTorch’s allocator tells', async t => {
  const { place, pid } = await running(t, SCRIPT.replace('kept = []', `${SNAPSHOT}kept = []`));
  const one = await query(place, [String(pid), '--address', '0x103000']);
  assert.match(one.stdout, / 500 B .* 512 B.* 0x5570.* 0:3 /);
  assertSentence(linesOf(one.stdout, / 500 B /));
  const all = await query(place, [
    String(pid),
    '--line',
    `train.py:${lineOf('0x1000 * step, 512') + 5}`,
    '--format',
    'json',
  ]);
  const { questions } = JSON.parse(all.stdout) as { questions: { details: BlockDetails }[] };
  const details = { blocks: 60, sized: 60, askedBytes: 60 * 500, bytes: 60 * 512, streams: ['0x5570'], pools: ['0:3'] };
  assert.deepEqual(questions[0]?.details, details);
});

test('no PyTorch, the agent off, ended: each its sentence', async t => {
  const plain = SCRIPT.replace('import torch, tracing', 'import tracing')
    .replace('assert tracing.begin()', 'tracing.begin(0)')
    .replace('optimizer = torch.optim.Optimizer()', '')
    .replace('optimizer.step()', 'time.sleep(0.005)')
    .replace('torch.Tensor(', '(');
  const without = await running(t, plain);
  const line = ['--line', `train.py:${lineOf('0x1000 * step, 512')}`];
  assertSentence((await query(without.place, [String(without.pid), ...line])).stdout);
  const off = await running(t, plain, { ...environment, GPU_MEMTRACE_AGENT: '0' });
  assertSentence((await query(off.place, [String(off.pid), ...line])).stdout);
  const noProcess = await query(off.place, ['2147483']);
  assertSentence(noProcess.stderr);
  assert.equal(noProcess.status, 1);
});

test('of a saved trace what was recorded at the end is told', async t => {
  const place = new Place(t);
  const file = place.write('train.py', SCRIPT.replace(/while True:[^]*/, ''));
  const trace = place.path('t.gputrace');
  const run = ['run', '--simulate-gpu', '--format', 'none', '-o', trace, '--', python, file];
  assert.equal((await place.run(run, environment)).status, 0);
  const { status, stdout } = await query(place, [trace]);
  assert.equal(status, 0, stdout);
  assertSentence(linesOf(stdout, /Found/));
  assert.match(stdout, /60 blocks, 30 KiB: __main__\.kept\[\.\.\.\]/);
});

test('of a line whose blocks were all freed at the end, what was found before is told', async t => {
  const place = new Place(t);
  const freeing = SCRIPT.replace(/while True:[^]*/, '').replace('\ntrain()\n', '\ntrain()\nempty()\n');
  const empty =
    'def empty():\n    while kept:\n        tracing.report(kept.pop().untyped_storage().data_ptr(), -512)\n';
  const file = place.write('train.py', freeing.replace('\ntrain()\n', `\n${empty}train()\n`));
  const trace = place.path('t.gputrace');
  const run = ['run', '--simulate-gpu', '--format', 'none', '--holders', 'atSteps', '-o', trace, '--', python, file];
  assert.equal((await place.run(run, environment)).status, 0);
  const ended = await query(place, [trace, '--line', `train.py:${lineOf('0x1000 * step, 512')}`]);
  assertSentence(withoutNumbers(linesOf(ended.stdout, /Found/)), ended.stderr);
  assert.match(ended.stdout, /blocks?, .*: __main__\.kept\[\.\.\.\]/);
});
