// Which trace is meant by a PID, and which there are where it is none.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTrace } from '../../../extension/capture/traces/runningTraces';
import { PREFIX } from '../../../extension/capture/traces/traceDirectory';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

test('a process that is not traced is told with those that are', t => {
  const root = mkdtempSync(join(tmpdir(), 'gpu-memtrace-roots-'));
  t.after(() => rmSync(root, { recursive: true }));
  const sentence = (): string => {
    const found = findTrace('1', [root]);
    assert.ok('error' in found);
    return found.error;
  };
  const none = sentence();
  assertSentence(none);
  const trace = join(root, `${PREFIX}one`);
  mkdirSync(trace);
  const gone = 2 ** 30;
  writeFileSync(join(trace, 'session.json'), JSON.stringify({ processes: [{ pid: process.pid }, { pid: gone }] }));
  const one = sentence();
  assert.ok(one.startsWith(`${none.slice(0, none.indexOf(':'))}; `), one);
  assert.ok(one.includes(`: ${process.pid} (${process.execPath}`), one);
  assert.ok(!one.includes(String(gone)), one);
  assert.deepEqual(findTrace(String(process.pid), [root]), { path: trace, directory: trace, pid: process.pid });
});
