// A program that works in a function frees all of it when that returns: what is shown of it is the end of its last step.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Report } from '../../extension/analysis/report/report';
import { Place, python, root } from './launcher';

const agentTests = join(root, 'test/native/agent');
const environment = {
  PYTHONPATH: `${join(agentTests, 'standin')}:${agentTests}`,
  GPU_MEMTRACE_AGENT_DEVICES: 'all', // the stand-in's tensors are on no device
};
const SCRIPT = `import torch, tracing
class Kept(torch.Tensor):
    def __init__(self, number):
        super().__init__(0x100000 + 0x1000 * number)
        self.number = number
        tracing.report(0x100000 + 0x1000 * number, 512)
    def __del__(self):
        tracing.report(0x100000 + 0x1000 * self.number, -512)
def main():
    optimizer = torch.optim.Optimizer()
    kept = []
    for step in range(60):
        kept.append(Kept(step))  # HOLD
        optimizer.step()
    WORK
assert tracing.begin()
tracing.report(0x1000, -512)
main()
`;
type ShownMoment = { shownMoment?: { atSeconds: number; step: number | null; liveBytes: number } };

interface Run {
  place: Place;
  stderr: string;
  report: Report & ShownMoment;
}

async function traced(t: TestContext, work: string, options: string[] = []): Promise<Run> {
  const place = new Place(t);
  const file = place.write('train.py', SCRIPT.replace('WORK', work));
  const words = ['run', '--simulate-gpu', '-o', place.path('t.gputrace'), '--report', place.path('report.json')];
  const { status, stderr } = await place.run([...words, ...options, '--', python, file], environment);
  assert.equal(status, 0, stderr);
  return { place, stderr, report: place.readJson('report.json') };
}

const LAST_STEP = 'As of the end of step 60: the program had freed everything when it ended.';
const lastTable = (text: string): string => text.slice(text.lastIndexOf(LAST_STEP));

test('the last table, and that of a saved trace, show the end of the last step; the document stays that of the end', async t => {
  const { place, stderr, report } = await traced(t, 'return');
  const trace = place.path('t.gputrace');
  const { stdout } = await place.run(['report', trace]);
  for (const text of [stderr, stdout]) {
    assert.equal(text.split(LAST_STEP).length, 2, text);
    assert.match(lastTable(text), /^TOTAL LIVE: 30\.00 KB\n {2}tensor layer, gpu_0: 30\.00 KB in 60/m);
    assert.match(lastTable(text), /30\.00 KB in 60 +\+512 B\/step +growing +tracing\.py:\d+ report/);
    assert.match(lastTable(text), /0x100000:gpu_0: 512 B/);
  }
  assert.equal(report.totals.find(({ layer }) => layer === 'tensor')?.liveBytes, 0);
  assert.deepEqual([report.shownMoment?.step, report.shownMoment?.liveBytes], [60, 60 * 512]);
});

test('a moment that the user names is shown instead, and what still lives at the end needs none', async t => {
  const { place } = await traced(t, 'return');
  const trace = place.path('t.gputrace');
  const { stdout } = await place.run(['report', trace, '--at', 'step:20']);
  assert.match(stdout, /^TOTAL LIVE: 10\.00 KB$/m);
  assert.doesNotMatch(stdout, /As of/);
  const end = await place.run(['report', trace, '--at', '100%']);
  assert.match(end.stdout, /^TOTAL LIVE: 0 B$/m);
  const left = await traced(t, 'globals().update(kept=kept[:20])');
  assert.doesNotMatch(left.stderr, /As of/);
  assert.match(left.stderr, /^TOTAL LIVE: 10\.00 KB$/m);
  assert.equal(left.report.shownMoment, undefined);
});

test('a program that is killed is shown as it was then', async t => {
  const place = new Place(t);
  const file = place.write('train.py', SCRIPT.replace('WORK', 'import os; os.kill(os.getpid(), 9)'));
  const { status, stderr } = await place.run(['run', '--simulate-gpu', '--', python, file], environment);
  assert.equal(status, 128 + 9);
  assert.match(stderr, /^TOTAL LIVE: 30\.00 KB$/m);
  assert.doesNotMatch(stderr, /As of/);
});

test('without steps it is the peak', async t => {
  const place = new Place(t);
  const script = `import tracing
tracing.begin(0)
for number in range(3):
    tracing.report(0x100000 + 0x1000 * number, 4096)
for number in range(3):
    tracing.report(0x100000 + 0x1000 * number, -4096)
tracing.report(0x1000, -512)
`;
  const { stderr } = await place.run(['run', '--simulate-gpu', '--', python, place.write('t.py', script)], environment);
  assert.match(stderr, /^As of the peak: the program had freed everything when it ended\.$/m);
  assert.match(stderr, /^TOTAL LIVE: 12\.50 KB$/m);
});
