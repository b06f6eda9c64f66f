import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeSession } from '../../../extension/engine/native';
import { loadNative } from '../../../extension/engine/addon';
import { TraceSession } from '../../../extension/engine/session';

function fakeSession(): { native: NativeSession; state: { revision: number; closed: number } } {
  const state = { revision: 0, closed: 0 };
  const native = { revision: () => state.revision, close: () => state.closed++ };
  return { native: native as unknown as NativeSession, state };
}

test('listeners hear of each new revision once', () => {
  const { native, state } = fakeSession();
  const session = new TraceSession({ open: () => native }, '/trace');
  const heard: number[] = [];
  const listening = session.onChange(revision => heard.push(revision));
  session.poll();
  session.poll();
  state.revision = 5;
  session.poll();
  assert.deepEqual(heard, [0, 5]);
  listening.dispose();
  state.revision = 6;
  session.poll();
  assert.deepEqual(heard, [0, 5]);
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
