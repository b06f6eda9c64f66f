// Which trace is meant by a PID, and which there are where it is none.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTrace } from '../../../extension/capture/traces/runningTraces';
import { PREFIX } from '../../../extension/capture/traces/traceDirectory';

test('a process that is not traced is told with those that are', t => {
  const root = mkdtempSync(join(tmpdir(), 'gpu-memtrace-roots-'));
  t.after(() => rmSync(root, { recursive: true }));
  const error = (): unknown => findTrace(String(process.ppid), [root]);
  const refusal = `Process ${process.ppid} is not traced (or by another user)`;
  const how = 'name a process that "gpu-memtrace run" or VS Code started under the tracer';
  assert.deepEqual(error(), { error: `${refusal}: ${how}.` });
  const trace = join(root, `${PREFIX}one`);
  mkdirSync(trace);
  const gone = 2 ** 30;
  writeFileSync(join(trace, 'session.json'), JSON.stringify({ processes: [{ pid: process.pid }, { pid: gone }] }));
  const { error: sentence } = error() as { error: string };
  assert.ok(sentence.startsWith(`${refusal}; traced now: ${process.pid} (${process.execPath}`), sentence);
  assert.ok(!sentence.includes(String(gone)), sentence);
  assert.deepEqual(findTrace(String(process.pid), [root]), { path: trace, directory: trace, pid: process.pid });
});
