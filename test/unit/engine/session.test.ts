import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeSession } from '../../../extension/engine/native';
import { loadNative } from '../../../extension/engine/addon';
import { TraceSession } from '../../../extension/engine/session';

function fakeSession(): { native: NativeSession; state: { revision: number; closed: number; caughtUp: boolean } } {
  const state = { revision: 0, closed: 0, caughtUp: true };
  const native = { advance: () => state.caughtUp, revision: () => state.revision, close: () => state.closed++ };
  return { native: native as unknown as NativeSession, state };
}

test('listeners hear of each new revision once, and of the next when people could read the last', t => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { native, state } = fakeSession();
  const session = new TraceSession({ open: () => native }, '/trace');
  const heard: number[] = [];
  const listening = session.onChange(revision => heard.push(revision));
  session.poll();
  session.poll();
  state.revision = 5;
  nowMs = 249;
  session.poll();
  assert.deepEqual(heard, [0], 'the trace stands still');
  nowMs = 250;
  session.poll();
  assert.deepEqual(heard, [0, 5]);
  listening.dispose();
  state.revision = 6;
  nowMs = 1000;
  session.poll();
  assert.deepEqual(heard, [0, 5]);
});

test('the next moment waits for those who were told of the last, but not for ever', t => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { native, state } = fakeSession();
  const session = new TraceSession({ open: () => native }, '/trace');
  const heard: number[] = [];
  session.onChange(revision => {
    heard.push(revision);
    session.awaits('page', true);
  });
  const pollAt = (ms: number): void => {
    nowMs = ms;
    state.revision++;
    session.poll();
  };
  for (const ms of [0, 300, 1999]) pollAt(ms);
  assert.deepEqual(heard, [1]);
  session.awaits('page', false);
  pollAt(1999);
  assert.deepEqual(heard, [1, 4], 'the page has asked');
  pollAt(3998);
  pollAt(3999);
  assert.equal(heard.length, 3, 'a page that never asks');
});

test('while more is read than can be waited for, little is told', () => {
  const { native, state } = fakeSession();
  const session = new TraceSession({ open: () => native }, '/trace');
  const heard: number[] = [];
  session.onChange(revision => heard.push(revision));
  state.caughtUp = false;
  for (state.revision = 1; state.revision < 8; state.revision++) session.poll();
  assert.deepEqual(heard, []);
  session.poll();
  assert.deepEqual(heard, [8], 'the way through a backlog is seen');
});

test('it polls while it follows, and never after it was closed', t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { native, state } = fakeSession();
  const session = new TraceSession({ open: () => native }, '/trace');
  let heard = 0;
  session.onChange(() => heard++);
  session.follow(200);
  t.mock.timers.tick(200);
  assert.equal(heard, 1);
  session.pause();
  state.revision = 1;
  t.mock.timers.tick(1000);
  assert.equal(heard, 1);
  session.follow(200);
  session.close();
  session.close();
  session.follow(200);
  session.poll();
  t.mock.timers.tick(1000);
  assert.deepEqual([heard, state.closed], [1, 1]);
});

test('what a trace needed is released once, also where it cannot be opened', () => {
  let released = 0;
  const release = (): void => void released++;
  const open = (): NativeSession => {
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
