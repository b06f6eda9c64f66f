import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { processAlive } from '../../../extension/capture/processes/processAlive';
import {
  addMark,
  recordProcesses,
  readSession,
  writeSession,
  type SessionFile,
} from '../../../extension/capture/traces/sessionFile';
import { programRuns } from '../../../extension/capture/launch/terminalScript';
import { makeInfo } from '../fakeTrace';
import { RECOMPILED } from '../../../extension/protocol/notes';
import type { TraceInfo } from '../../../extension/protocol/trace';
import { marksOf } from '../../../extension/protocol/marks';

const FACTS: SessionFile = {
  version: 1,
  command: ['python3', 'train.py'],
  cwd: '/home',
  startedRealtimeMs: 1,
  simulated: false,
  backend: 'inject',
  processes: [],
};

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'session-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('marks that came meanwhile outlive what the launcher notes', t => {
  const directory = folder(t);
  writeSession(directory, FACTS);
  assert.equal(addMark(directory, { name: 'before eval', timeNs: 20 }), true);
  assert.equal(addMark(directory, { name: 'warm "up"', timeNs: 10 }), true);
  recordProcesses(directory, { ...FACTS, processes: [{ pid: 5, exitCode: 0 }] });
  const session = readSession(directory);
  assert.deepEqual(session?.processes, [{ pid: 5, exitCode: 0 }]);
  assert.deepEqual(
    marksOf(makeInfo({ session: { ...session } })).map(({ name }) => name),
    ['warm "up"', 'before eval'],
  );
});

test('where there is no session nothing is marked or read', t => {
  const directory = folder(t);
  assert.equal(addMark(directory, { name: 'a', timeNs: 0 }), false);
  assert.equal(readSession(directory), null);
  writeFileSync(join(directory, 'session.json'), '{"version":1}');
  assert.equal(readSession(directory), null);
});

test('what is no mark is left out', () => {
  const marks = [{ name: 'a', timeNs: -1 }, { name: 1, timeNs: 1 }, null, 'x', { name: 'ok', timeNs: 2, more: 1 }];
  assert.deepEqual(marksOf(makeInfo({ session: { marks } })), [{ name: 'ok', timeNs: 2 }]);
  assert.deepEqual(marksOf(makeInfo({ session: { marks: 'none' } })), []);
});

test('what was compiled again is a mark', () => {
  const why = 'recompiled train.py:16 forward: 0/0: tensor x: expected 64, actual 128';
  const notes = [8, RECOMPILED].map(code => ({ code, text: `1500 ${why}` }));
  const processes = [{ notes }] as unknown as TraceInfo['processes'];
  const info = makeInfo({ session: { marks: [{ name: 'late', timeNs: 9e8 }] }, startRealtimeMs: 1000, processes });
  const marks = marksOf(info);
  assert.deepEqual(marks, [{ name: why, timeNs: 5e8 }, { name: 'late', timeNs: 9e8 }]); // prettier-ignore
});

test('a process runs when it began before the moment, not when only its number is used again', () => {
  assert.equal(processAlive(process.pid, Date.now()), true);
  assert.equal(processAlive(process.pid, Date.now() - process.uptime() * 1000 - 60_000), false);
  assert.equal(processAlive(0, Date.now()), false);
});

test('a process that ended and was not waited for does not run', t => {
  const proc = folder(t);
  mkdirSync(join(proc, '7'));
  writeFileSync(join(proc, 'stat'), 'cpu 1\nbtime 1000\n');
  const stat = (state: string): void =>
    writeFileSync(join(proc, '7/stat'), `7 (a) b) ${state} ${'0 '.repeat(18)}500 0`);
  stat('S');
  assert.equal(processAlive(7, 1_005_000, proc), true);
  assert.equal(processAlive(7, 999_000, proc), false);
  stat('Z');
  assert.equal(processAlive(7, 1_005_000, proc), false);
});

test('a program runs from its first moment until it is known or seen to have ended', async t => {
  const directory = folder(t);
  assert.equal(programRuns(directory), false);
  const child = spawn('sleep', ['60']);
  writeFileSync(join(directory, 'pid'), `${child.pid}\n`);
  assert.equal(programRuns(directory), true);
  child.kill('SIGKILL');
  await new Promise(done => child.once('exit', done));
  assert.equal(programRuns(directory), false);
  writeFileSync(join(directory, 'pid'), `${process.pid}\n`);
  writeFileSync(join(directory, 'status'), '0\n');
  assert.equal(programRuns(directory), false);
});
