// Verdicts in the JSON document and in the table.
import assert from 'node:assert/strict';
import { readSnapshot } from '../../../extension/report/tables/snapshot';
import { renderTable } from '../../../extension/report/tables/table';
import { verdictsOf } from '../../../extension/analysis/findings/verdictCache';
import { textOf } from '../../../extension/text/escapeForTerminal';
import { RunTrace, type RunFacts } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { wholeReport } from '../wholeReport';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;

function trace(steps: number, facts: RunFacts = {}): RunTrace {
  const run = new StepRun();
  for (let step = 1; step <= steps; step++) {
    run.alloc(1, 2 * MB);
    run.pass(2, 8 * MB);
    run.endStep();
  }
  return new RunTrace(run, { totalBytes: 1000 * MB, ...facts });
}
const table = (source: RunTrace): string =>
  textOf(renderTable(readSnapshot(source, { top: 5, groupBy: 'line', groups: 5 }), { now: new Date(0) }));

test('the document: steps, findings, a site’s verdict, a ledger with slopes a step', () => {
  const ledger = { tensor: (step: number) => 2 * step * MB, driver: () => 300 * MB, process: () => 500 * MB };
  const report = wholeReport(trace(40, { ledger }));
  assert.deepEqual(report.steps, {
    count: 40,
    source: 'optimizer',
    after: null,
    processes: [{ pid: 2166793, count: 40, source: 'optimizer' }],
  });
  const [finding] = report.findings;
  assert.deepEqual(
    [finding?.verdict, finding?.pid, finding?.bytesPerStep, finding?.sinceStep, finding?.place?.line, finding?.sites],
    ['leak', 2166793, 2 * MB, 1, 1, [1]],
  );
  assert.ok((finding?.suggestion ?? '') !== '' && (finding?.ruledOut.length ?? 0) > 0);
  assert.deepEqual(
    report.ledger.map(entry => [
      entry.slopes.tensorBytesPerStep,
      entry.processBytes,
      entry.remainderBytes,
      entry.grows,
    ]),
    [[2 * MB, 500 * MB, 200 * MB, 'tensor']],
  );
  assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
});

test('a site’s verdict, with its sentence', () => {
  const source = trace(40);
  const verdict = verdictsOf(source).sites.get(1);
  assert.equal(verdictsOf(source), verdictsOf(source), 'judged once for a revision');
  // The fake trace lists only sites with live blocks: none of them is in its windows.
  assert.equal(verdict?.state, 'growing');
  assertSentence(verdict.because);
});

test('the table ends with what was found, in sentences, so that it stays on the screen', () => {
  const found = /^LEAK: train\.py:1 .* 2 MiB[^]*/m.exec(table(trace(40)))?.[0] ?? '';
  assert.match(found, /^LEAK: .*\n(?: {2}.*\n)+40 steps .*\n$/);
  assertSentence(found);
});

test('a run that ended without a leak says so, and so does one that failed', () => {
  const clean = new StepRun();
  for (let step = 1; step <= 20; step++) {
    clean.pass(1, MB);
    clean.endStep();
  }
  const ended = new RunTrace(clean);
  ended.info().live = false;
  assertSentence(table(ended));
  const failure = { process: 0, device: 0, layer: 'tensor' as const, requestedBytes: 600 * MB, timeNs: 1, site: 2 };
  const outOfMemory = [{ ...failure, liveBytes: 100 * MB, thread: 0, freeBytes: null, snapshot: null }];
  assertSentence(table(trace(40, { outOfMemory })));
});
