// What is said of memory is in the language that it was given; its fields are the same in all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { config } from '@vscode/l10n';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import { overallVerdict } from '../../../extension/analysis/sites/overallVerdict';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

const STRINGS = {
  '{0} of {1} stays alive': '{1}: {0} bleibt',
  '1 tensor': '1 Tensor',
  'each step': 'jeder Schritt',
  '{0} a step': '{0} je Schritt',
  'Not warm-up: it still grew {0} steps after it began.': 'Kein Aufwärmen: noch {0} Schritte später wächst es.',
  '1 leak': '1 Leck',
};

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
  const [finding] = verdicts.findings;
  assert.deepEqual(
    [finding?.headline, finding?.detail],
    ['train.py:1: jeder Schritt: 1 Tensor bleibt', '1.00 MB je Schritt'],
  );
  assert.ok(finding?.ruledOut.includes('Kein Aufwärmen: noch 29 Schritte später wächst es.'));
  assert.equal(overallVerdict(new RunTrace(run).info(), verdicts).sentence, '1 Leck');
  const numbers = ({ id, bytesPerStep, bytes, sinceStep, place }: (typeof english.findings)[0]): unknown[] => {
    return [id, bytesPerStep, bytes, sinceStep, place];
  };
  assert.deepEqual(verdicts.findings.map(numbers), english.findings.map(numbers));
});
