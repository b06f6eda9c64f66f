import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { settle } from '../../../extension/capture/launch/settle';
import { makeInfo, makeProcess } from '../fakeTrace';

test('a log that the reader has not found yet is waited for, and so is the end of its process', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'settle-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, '1-ab.gmtlog'), '');
  const seen = [[], [makeProcess({ ended: false })], [makeProcess({ ended: true })]];
  let reads = 0;
  const session = {
    settle: () => Promise.resolve(void reads++),
    info: () => makeInfo({ processes: seen[Math.min(reads, seen.length) - 1] ?? [] }),
  };
  assert.equal(await settle(session, directory, 5_000), 0);
  assert.equal(reads, 3);
  const running = { settle: session.settle, info: () => makeInfo({ processes: [makeProcess({ ended: false })] }) };
  assert.equal(await settle(running, directory, 100), 1);
});

test('where processes go on, only their logs are waited for', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'settle-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, '1-ab.gmtlog'), '');
  let reads = 0;
  const session = {
    settle: () => Promise.resolve(void reads++),
    info: () => makeInfo({ processes: reads < 2 ? [] : [makeProcess({ ended: false })] }),
  };
  assert.equal(await settle(session, directory, 5_000, true), 1);
  assert.equal(reads, 2);
});
