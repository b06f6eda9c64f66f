// Verdicts for the page: judged when something new happened, not more often than a second, in small parts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Judge } from '../../../extension/engine/judge';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

const MB = 1 << 20;

/** A trace that goes on: `grow` adds a step in which 2 MB are kept. */
class Growing extends RunTrace {
  live = true;
  exitCode: number | null = null;
  constructor(readonly steps = new StepRun()) {
    super(steps);
  }
  grow(): void {
    this.steps.alloc(1, 2 * MB);
    this.steps.endStep();
  }
  override info(): TraceInfo {
    const info = super.info();
    const steps = info.steps.map(entry => ({ ...entry, count: this.steps.count }));
    const processes = info.processes.map(process => ({ ...process, exitCode: this.exitCode }));
    return { ...info, processes, steps, live: this.live, revision: this.steps.count };
  }
}

test('news is judged, also when each judging is done at once', async () => {
  const trace = new Growing();
  let changes = 0;
  const judge = new Judge(trace, () => changes++);
  assert.equal(judge.latest, null);
  const first = await judge.verdictsNow();
  assert.deepEqual([first.verdicts.steps.count, first.stale], [0, false]);
  for (let step = 0; step < 30; step++) trace.grow();
  const soon = await judge.verdictsNow();
  assert.deepEqual([soon.verdicts.steps.count, soon.stale], [0, true], 'not twice in a second');
  trace.live = false;
  const end = await judge.verdictsNow();
  assert.deepEqual([end.verdicts.steps.count, end.stale, end.verdicts.findings.length], [30, false, 1]);
  assert.equal((await judge.verdictsNow()).verdicts, end.verdicts, 'nothing new: not judged again');
  assert.equal(changes, 2);
  assert.equal(judge.latest, end.verdicts);
});

test('an exit status that becomes known after the last event is judged', async () => {
  const trace = new Growing();
  trace.live = false;
  const judge = new Judge(trace, () => undefined);
  const before = await judge.verdictsNow();
  trace.exitCode = 1;
  assert.notEqual((await judge.verdictsNow()).verdicts, before.verdicts);
});

test('what happens while it is being judged makes the verdicts stale', async () => {
  const trace = new Growing();
  for (let step = 0; step < 300; step++) trace.grow();
  trace.live = false;
  const judge = new Judge(trace, () => undefined);
  const judging = judge.verdictsNow();
  trace.exitCode = 1;
  assert.equal((await judging).stale, true);
  assert.equal((await judge.verdictsNow()).stale, false);
});

test('who asks while it is being judged gets the same; a closed trace is not judged', async () => {
  const trace = new Growing();
  for (let step = 0; step < 30; step++) trace.grow();
  const judge = new Judge(trace, () => undefined);
  const [a, b] = await Promise.all([judge.verdictsNow(), judge.verdictsNow()]);
  assert.equal(a.verdicts, b.verdicts);
  judge.close();
  trace.grow();
  trace.live = false;
  await assert.rejects(judge.verdictsNow(), /was closed/);
});
