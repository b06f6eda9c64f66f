// What the engine says of a trace of its own accord.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FollowedTrace } from '../../../extension/engine/followedTrace';
import { noSlots } from '../../../extension/engine/groupSlots';
import type { TraceSession } from '../../../extension/native/traceSession';
import type { TraceChange } from '../../../extension/protocol/requests/engineRequests';
import { makeTotals } from '../fakeTrace';
import { HUE_COUNT } from '../../../extension/protocol/lineHue';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

test('a page asks for a moment anew when that is announced, also where its facts went with an answer before', () => {
  let announce = (): void => undefined;
  let revision = 1;
  const run = new RunTrace(new StepRun());
  const native = { ...run, revision: () => revision, info: () => ({ ...run.info(), revision }) };
  const session = {
    native,
    onChange: (listener: () => void) => (announce = listener),
    follow: () => undefined,
    close: () => undefined,
  } as unknown as TraceSession;
  const changes: (TraceChange | undefined)[] = [];
  const trace = new FollowedTrace(session, null, (_, change) => changes.push(change), noSlots());
  revision = 2; // the thread that reads is ahead
  trace.pushInfo();
  announce();
  assert.deepEqual(changes, [undefined, 'events']);
  trace.pushInfo();
  assert.equal(changes.length, 2);
});

test('what a program frees at its end is not seen before the end is known; one that goes on is empty a second later', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const source = new RunTrace(new StepRun());
  let [liveBytes, live] = [900, true];
  const totals = () => [makeTotals({ liveBytes, peakBytes: 900, allocations: 9 })];
  const native = Object.assign(source, { revision: () => liveBytes, settle: () => Promise.resolve() });
  const info = source.info();
  native.info = () => ({ ...info, live, revision: liveBytes, totals: totals() });
  let announce = (): void => undefined;
  const session = {
    native,
    moments: { at: () => Promise.resolve(native) },
    ...{ onChange: (listener: () => void) => (announce = listener), follow: () => undefined },
  } as unknown as TraceSession;
  const seen: unknown[] = [];
  const trace = new FollowedTrace(
    session,
    '/nowhere',
    ({ info: pushed, ending }) =>
      pushed && seen.push(ending ? 'ending' : pushed.totals.map(total => total.liveBytes).join()),
    noSlots(),
  );
  announce();
  const figures = (): Promise<unknown> => trace.untilPushed().then(() => seen.push('figures'));
  await figures();
  liveBytes = 0;
  announce();
  trace.pushInfo();
  const late = figures();
  await Promise.resolve();
  assert.deepEqual(seen, ['900', 'figures']);
  t.mock.timers.tick(1000);
  await late;
  assert.deepEqual(seen.splice(1), ['figures', '0', 'figures']);
  seen.push('0');
  liveBytes = 900;
  announce();
  liveBytes = 0;
  announce();
  live = false;
  await trace.readRest(false);
  t.mock.timers.tick(1000);
  const last = figures();
  await trace.findEnding();
  await last;
  assert.deepEqual(seen, ['900', '0', '900', 'ending', 'figures']);
});

test('a line has its colour again in the next trace, whichever lines come first', () => {
  const known = noSlots();
  const session = { onChange: () => undefined, follow: () => undefined } as unknown as TraceSession;
  const traced = (): FollowedTrace => new FollowedTrace(session, null, () => undefined, known);
  const names = Array.from({ length: 6 }, (_, i) => `/x/train.py:${i}`);
  const first = traced().colourGroups('line', names);
  assert.equal(new Set(first).size, 6);
  assert.deepEqual(traced().colourGroups('line', names.toReversed()), first.toReversed());
});

test('a line that is drawn no longer keeps its colour until another line needs it', () => {
  const session = { onChange: () => undefined, follow: () => undefined } as unknown as TraceSession;
  const trace = new FollowedTrace(session, null, () => undefined, noSlots());
  const [a = -1, b = -1] = trace.colourGroups('line', ['/x/train.py:1', '/x/train.py:2']);
  const [, c = -1] = trace.colourGroups('line', ['/x/train.py:1', '/x/train.py:3']);
  assert.equal(new Set([a, b, c]).size, 3);
  assert.deepEqual(
    [...trace.hues],
    [
      ['/x/train.py:1', a],
      ['/x/train.py:3', c],
      ['/x/train.py:2', b],
    ],
  );
  const many = Array.from({ length: HUE_COUNT }, (_, i) => `/x/model.py:${i}`);
  trace.colourGroups('line', many);
  assert.deepEqual([...trace.hues.keys()], many);
});

test('the status bar has the figure of the moment that header and table read', async () => {
  const run = new StepRun();
  for (let step = 1; step <= 20; step++) run.endStep();
  const trace = (liveBytes: number): object => {
    const source = new RunTrace(run, { ledger: { tensor: () => 400 } });
    const totals = [makeTotals({ liveBytes, peakBytes: 900, allocations: 9 })];
    const own = source.info();
    return Object.assign(source, { revision: () => 1, info: () => ({ ...own, live: false, totals }) });
  };
  const session = {
    native: trace(0),
    moments: { at: () => Promise.resolve(trace(401)) }, // the event at the very end of the step is in it
    onChange: () => undefined,
    follow: () => undefined,
  } as unknown as TraceSession;
  const shown = new FollowedTrace(session, null, () => undefined, noSlots());
  await shown.findEnding();
  assert.equal(shown.ending?.bytes, 401);
});
