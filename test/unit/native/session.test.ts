import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { NativeTrace } from '../../../extension/native/native';
import { loadNative } from '../../../extension/native/addon';
import { TraceSession } from '../../../extension/native/traceSession';

interface Fake {
  native: NativeTrace;
  state: { revision: number; closed: number };
  /** Whether what comes next is waited for. */
  waited(): boolean;
  /** Something new is there. */
  happens(caughtUp?: boolean): void;
}

function fakeSession(): Fake {
  const state = { revision: 0, closed: 0 };
  let found: ((caughtUp: boolean) => void) | null = null;
  const next = (callback: (caughtUp: boolean) => void): void => void (found = callback);
  const native = { next, revision: () => state.revision, close: () => state.closed++ };
  const happens = (caughtUp = true): void => {
    const callback = found;
    found = null;
    state.revision++;
    callback?.(caughtUp);
  };
  return { native: native as unknown as NativeTrace, state, waited: () => found !== null, happens };
}

/** A trace that is followed; its time goes on by `pass`. */
function followed(t: TestContext): { session: TraceSession; revisions: number[]; pass(ms: number): void } & Fake {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fake = fakeSession();
  const session = new TraceSession({ open: () => fake.native }, '/trace');
  const revisions: number[] = [];
  session.onChange(revision => revisions.push(revision));
  session.follow();
  const pass = (ms: number): void => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  return { ...fake, session, revisions, pass };
}

test('listeners hear of each new revision once, and of the next when a picture of the last could be drawn', t => {
  const { session, revisions, waited, happens, pass } = followed(t);
  assert.ok(waited());
  pass(10_000);
  assert.deepEqual(revisions, [], 'nothing happens');
  happens();
  assert.deepEqual(revisions, [1]);
  pass(79);
  assert.ok(!waited(), 'the trace stands still');
  pass(1);
  assert.ok(waited());
  happens();
  assert.deepEqual(revisions, [1, 2]);
  const other: number[] = [];
  const listening = session.onChange(revision => other.push(revision));
  listening.dispose();
  pass(1_000);
  happens();
  assert.deepEqual([revisions, other], [[1, 2, 3], []]);
});

test('the next moment waits for those who were told of the last, but not for ever', t => {
  const { session, waited, happens, pass } = followed(t);
  happens();
  session.setLate('page', true);
  pass(1_999);
  assert.ok(!waited());
  session.setLate('page', false);
  assert.ok(waited(), 'the page has asked');
  happens();
  session.setLate('page', true);
  session.setLate('page', false);
  assert.ok(!waited(), 'the picture is not over');
  session.setLate('page', true);
  pass(1_999);
  assert.ok(!waited());
  pass(1);
  assert.ok(waited(), 'a page that never asks');
});

test('while more is read than can be waited for, little is told', t => {
  const { revisions, waited, happens, pass } = followed(t);
  happens(false);
  assert.deepEqual(revisions, [1], 'the way through a backlog is seen');
  pass(249);
  assert.ok(!waited());
  pass(1);
  assert.ok(waited());
});

test('it looks for what is new while it follows, and never after it was closed', t => {
  const { session, revisions, state, waited, happens, pass } = followed(t);
  happens();
  session.pause();
  pass(1_000);
  assert.ok(!waited());
  session.follow();
  assert.ok(waited());
  session.close();
  session.close();
  session.follow();
  happens();
  pass(1_000);
  assert.deepEqual([revisions, state.closed, waited()], [[1], 1, false]);
});

test('what a trace needed is released once, also where it cannot be opened', () => {
  let released = 0;
  const release = (): void => void released++;
  const open = (): NativeTrace => {
    throw new Error('The trace is damaged.');
  };
  assert.throws(() => new TraceSession({ open }, '/trace', release), /damaged/);
  assert.equal(released, 1);
  const session = new TraceSession({ open: () => fakeSession().native }, '/trace', release);
  session.close();
  session.close();
  assert.equal(released, 2);
});

test('a native part that is not there is one sentence', () => {
  const loaded = loadNative('/no/such/folder');
  assert.ok('error' in loaded);
  assert.match(loaded.error, /^[^\n]*\/no\/such\/folder\/native\/gpu_memory_trace\.node[^\n]*\.$/);
});
