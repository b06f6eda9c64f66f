// A trace directory goes also while processes that outlive their launcher begin logs in it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeTraceDirectory } from '../../../extension/capture/traces/traceDirectory';

test('a directory in which logs begin is removed, and stays so', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-memtrace-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'trace-a');
  mkdirSync(path);
  // Until the directory is gone.
  const program = `const fs = require('fs'); for (let i = 0; ; i++) { fs.writeFileSync(${JSON.stringify(path)} + '/' + i, ''); if (i === 200) console.log('busy'); }`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  removeTraceDirectory(path);
  await closed;
  assert.equal(existsSync(path), false);
  assert.deepEqual(readdirSync(folder), []);
  removeTraceDirectory(path);
});
