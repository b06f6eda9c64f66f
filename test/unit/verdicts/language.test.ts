// What is said of memory is in the language that it was given; its fields are the same in all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { config } from '@vscode/l10n';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { overallVerdict } from '../../../extension/analysis/sites/overallVerdict';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

const STRINGS = new Proxy({}, { get: (_, text) => String(text).toUpperCase() });

test('a finding is told in the language of the editor', t => {
  const run = new StepRun();
  for (let step = 1; step <= 30; step++) {
    run.alloc(1, 1 << 20);
    run.endStep();
  }
  const english = judgeTrace(new RunTrace(run));
  t.after(() => config({ contents: {} }));
  config({ contents: STRINGS });
  const verdicts = judgeTrace(new RunTrace(run));
  const loud = (text: string): string => text.toUpperCase();
  const [[finding], [original]] = [verdicts.findings, english.findings];
  assert.ok(finding && original);
  assert.equal(finding.headline.replace('train.py', 'TRAIN.PY'), loud(original.headline));
  assert.notEqual(finding.headline, original.headline);
  assert.equal(loud(finding.detail ?? ''), loud(original.detail ?? ''));
  assert.notEqual(finding.detail, original.detail);
  assert.deepEqual(finding.ruledOut, original.ruledOut.map(loud));
  const { sentence } = overallVerdict(new RunTrace(run).info(), verdicts);
  assert.deepEqual([sentence, /[A-Z]/.test(sentence)], [loud(sentence), true]);
  const numbers = ({ id, bytesPerStep, bytes, sinceStep, place }: (typeof english.findings)[0]): unknown[] => {
    return [id, bytesPerStep, bytes, sinceStep, place];
  };
  assert.deepEqual(verdicts.findings.map(numbers), english.findings.map(numbers));
});
