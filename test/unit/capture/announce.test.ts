import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { announce, takeAnnounced } from '../../../extension/capture/traces/announce';

test('what begins and was saved is announced once, in order; what is none is passed over', t => {
  const folder = mkdtempSync(join(tmpdir(), 'window-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [begun, saved] = [
    { directory: '/live/trace-Ab12', file: null },
    { directory: '/live/trace-Ab12', file: '/home/me/run 1.gputrace' },
  ];
  announce(saved, folder);
  announce(begun, folder);
  writeFileSync(join(folder, 'trace-broken'), '{');
  writeFileSync(join(folder, 'notes.txt'), '["/live/x",null]');
  assert.deepEqual(takeAnnounced(folder), [begun, saved]);
  assert.deepEqual(takeAnnounced(folder), []);
  assert.deepEqual(readdirSync(folder), ['notes.txt']);
});

test('nothing is written in a terminal of no window, or where others may write', t => {
  const folder = mkdtempSync(join(tmpdir(), 'window-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const begun = { directory: '/live/trace-1', file: null };
  announce(begun, undefined);
  announce(begun, join(folder, 'gone'));
  chmodSync(folder, 0o777);
  announce(begun, folder);
  assert.deepEqual(readdirSync(folder), []);
});
