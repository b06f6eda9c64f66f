import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byStart,
  isUnread,
  latestRuns,
  newerRun,
  programOf,
  readSinceMs,
  runBefore,
  scriptOf,
  startOf,
} from '../../../extension/files/tracedProgram';
import type { TraceFacts } from '../../../extension/protocol/requests/engineRequests';
import { makeInfo } from '../fakeTrace';

const traced = (command: string[], cwd = '/w', startedRealtimeMs = 0) => ({
  facts: { info: makeInfo({ session: { command, cwd, startedRealtimeMs } }) } as unknown as TraceFacts,
  folders: { cwd, beside: null },
});

test('runs of one script are of one program, with whatever arguments and Python', () => {
  const one = programOf(traced(['/usr/bin/python3', '/w/train.py', '--epochs', '3']));
  assert.equal(programOf(traced(['python', 'train.py'])), one);
  assert.notEqual(programOf(traced(['python', 'train.py'], '/w/other')), one);
  assert.equal(scriptOf(traced(['python', '-u', 'train.py'])), '/w/train.py');
});

test('a module is one by its words and folder, and what is not known is none', () => {
  const test = ['python', '-m', 'pytest', 'a::one'];
  assert.equal(programOf(traced(test)), programOf(traced(test)));
  assert.notEqual(programOf(traced(test)), programOf(traced(['python', '-m', 'pytest', 'a::two'])));
  assert.notEqual(programOf(traced(test)), programOf(traced(test, '/v')));
  assert.equal(programOf(traced([])), null);
  assert.equal(programOf({ facts: null, folders: { cwd: '/', beside: null } }), null);
});

test('a saved trace can be started where its folder and Python are there, and no word is missing', () => {
  const start = (command: string[], cwd = '/tmp') => startOf(traced(command, cwd));
  assert.deepEqual(start(['python', 'train.py', '--lr', '1']), {
    command: ['python', 'train.py', '--lr', '1'],
    cwd: '/tmp',
  });
  assert.equal(start(['python', 'train.py', '--token', '***']), null);
  assert.deepEqual(start(['./env', 'x'], '/usr/bin')?.command, ['/usr/bin/env', 'x'], 'a path of its folder');
  assert.equal(start(['/nowhere/python', 'train.py']), null);
  assert.equal(start(['python', 'train.py'], '/nowhere'), null);
  assert.equal(start([]), null);
});

test('an older trace that is opened later is no later run', () => {
  const [old, late] = [traced([], '/w', 5), traced([], '/w', 9)];
  assert.deepEqual([late, old].sort(byStart), [old, late]);
});

test('a file that is edited before the first use of a GPU was read as it stood at the start', () => {
  const facts = (startedRealtimeMs: number) =>
    ({ info: makeInfo({ session: { startedRealtimeMs }, startRealtimeMs: 9 }) }) as unknown as TraceFacts;
  assert.equal(readSinceMs({ facts: facts(5) }), 5);
  assert.equal(readSinceMs({ facts: facts(0) }), 9, 'a trace without its start');
  assert.equal(readSinceMs({ facts: null }), 0);
});

test('the warning of a run is unread until its program runs again; a file can be opened again', () => {
  const run = (id: number, script: string, more = {}) => ({
    ...traced(['python', script], '/w', id),
    ...{ id, recordedIn: '/run', warns: true, ...more },
  });
  const all = [run(3, 'a.py'), run(1, 'a.py'), run(2, 'b.py'), run(4, 'c.py', { warns: false })];
  assert.deepEqual(
    latestRuns(all).map(({ id }) => id),
    [3, 2, 4],
  );
  assert.deepEqual(
    all.filter(one => isUnread(one, all)).map(({ id }) => id),
    [3, 2],
  );
  const file = run(5, 'd.py', { recordedIn: null });
  assert.equal(isUnread(file, [file]), false);
});

test('a run is beside the newest earlier one that ended well, showed a leak or ran out of memory', () => {
  const ended = { hasAllocations: true, running: false, crashed: false, stopped: false, warns: false };
  const run = (startedMs: number, more: Partial<typeof ended> = {}) => ({
    ...traced(['python', 'train.py'], '/w', startedMs),
    ...ended,
    ...more,
  });
  const [well, now] = [run(1), run(9)];
  const useless = [{ crashed: true }, { stopped: true }, { running: true }, { hasAllocations: false }];
  assert.equal(runBefore(now, [run(10), now, ...useless.map(more => run(5, more)), well]), well);
  assert.equal(runBefore(now, [run(5, { crashed: true }), now]), null);
  const leaked = run(6, { stopped: true, warns: true });
  assert.equal(runBefore(now, [well, leaked, now]), leaked);
  const failed = run(7, { crashed: true, warns: true });
  assert.equal(runBefore(now, [well, leaked, failed, now]), failed);
  assert.equal(runBefore(now, [{ ...well, ...traced(['python', 'other.py'], '/w', 1) }]), null);
  const running = run(8, { running: true });
  assert.equal(newerRun(well, [now, well, leaked, running]), now);
  assert.equal(
    newerRun(leaked, [running, leaked, run(9, { hasAllocations: false })]),
    running,
    'an empty one shows nothing',
  );
  assert.equal(newerRun(now, [now, well]), null);
});
