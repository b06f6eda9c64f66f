import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { announce, takeAnnounced } from '../../../extension/capture/traces/announce';

test('what begins and was saved is announced once, in order; what is none is passed over', t => {
  const folder = mkdtempSync(join(tmpdir(), 'window-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const directory = '/live/trace-Ab12';
  const saved = '/home/me/run 1.gputrace';
  announce(directory, saved, folder);
  announce(directory, null, folder);
  writeFileSync(join(folder, 'trace-broken'), '{');
  for (const [i, other] of ['7', 'null', '{}', '[]', '[1,2,null]', '["/a","b",null]', '["/a",1,2]'].entries())
    writeFileSync(join(folder, `trace-other${i}`), other);
  writeFileSync(join(folder, 'notes.txt'), '["/live/x",null]');
  assert.deepEqual(takeAnnounced(folder), [
    [directory, process.pid, null],
    [directory, process.pid, saved],
  ]);
  assert.deepEqual(takeAnnounced(folder), []);
  assert.deepEqual(readdirSync(folder), ['notes.txt']);
});

test('nothing is written in a terminal of no window, or where others may write', t => {
  const folder = mkdtempSync(join(tmpdir(), 'window-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  announce('/live/trace-1', null, undefined);
  announce('/live/trace-1', null, join(folder, 'gone'));
  chmodSync(folder, 0o777);
  announce('/live/trace-1', null, folder);
  assert.deepEqual(readdirSync(folder), []);
});
