import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionIcon, sessionWords, type SessionSummary } from '../../../extension/views/session/sessionWords';

const ended: SessionSummary = {
  phase: 'ended',
  running: false,
  crashed: false,
  stopped: false,
  recordingOn: false,
  leaks: 0,
  others: [],
};
const told = (standing: SessionSummary): string[] => [
  sessionIcon(standing),
  sessionWords(standing, (text, ...values) => text.replace('{0}', values[0] ?? '')),
];

test('a session that ended has no icon of success; a crash comes before a leak', () => {
  assert.deepEqual(told(ended), ['circle-outline', 'ended']);
  assert.deepEqual(told({ ...ended, leaks: 1 }), ['warning', 'ended · 1 leak']);
  assert.deepEqual(told({ ...ended, crashed: true, leaks: 2 }), ['error', 'failed · 2 leaks']);
  assert.deepEqual(told({ ...ended, phase: 'failed' }), ['error', 'failed']);
  assert.deepEqual(told({ ...ended, others: ['rose', 'cycle'] })[1], 'ended · Grew until the end · Cycles');
});

test('one that runs says whether it is recorded, and what it leaks', () => {
  const runs: SessionSummary = { ...ended, phase: 'running', running: true, recordingOn: true };
  assert.deepEqual(told(runs), ['pulse', 'running']);
  assert.deepEqual(told({ ...runs, recordingOn: false }), ['debug-pause', 'paused']);
  assert.deepEqual(told({ ...runs, leaks: 1 }), ['warning', 'running · 1 leak']);
  assert.deepEqual(told({ ...runs, phase: 'starting' }), ['loading~spin', 'starting']);
});

test('one that the user stops is stopping, then stopped: no failure', () => {
  const stopping: SessionSummary = { ...ended, phase: 'running', running: true, recordingOn: true, stopped: true };
  assert.deepEqual(told(stopping), ['loading~spin', 'stopping']);
  assert.deepEqual(told({ ...ended, stopped: true }), ['circle-outline', 'stopped']);
});
