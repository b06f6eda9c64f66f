// Memory that waits for a stream, on a real GPU: what the allocator tells itself, the finding, and none where nothing waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runTraced } from './traced.mjs';

const MB = 1 << 20;

function judged(shape) {
  const { status, stderr, truth, report } = runTraced('waiting', { GMT_SHAPE: shape });
  assert.equal(status, 0, stderr);
  const cost = truth.costMicroseconds.toFixed(1);
  console.log(`${shape}: ${report.ledger[0].pendingBytes / MB} MB at the end; one look takes ${cost} µs`);
  return { truth, ledger: report.ledger[0], findings: report.findings };
}

test('a side stream that stays behind: pending, no leak, as much as PyTorch counts itself', () => {
  const { truth, ledger, findings } = judged('share');
  const counts = truth.waiting.slice(-20);
  assert.ok(Math.min(...counts) >= 64 * MB, String(counts));
  assert.ok(ledger.pendingBytes >= Math.min(...counts) && ledger.pendingBytes <= Math.max(...counts));
  assert.deepEqual(
    findings.map(finding => finding.verdict),
    ['pending'],
  );
  assert.deepEqual([findings[0].layer, findings[0].bytes > 0], ['driver', true]);
});

test('a side stream that falls behind ever more: it grows, and the cache with it', () => {
  const { truth, findings } = judged('grows');
  assert.ok(truth.waiting.at(-1) > truth.waiting[10]);
  assert.deepEqual([...new Set(findings.map(finding => finding.verdict))], ['pending']);
  assert.ok(findings[0].bytesPerStep > 0);
});

test('streams that meet: nothing is found', () => {
  const { findings } = judged('together');
  assert.deepEqual(
    findings.map(finding => finding.title),
    [],
  );
});
