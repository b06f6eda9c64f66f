// One statement that keeps several tensors of each step: its fix changes all of them, and then nothing leaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { fixFor, leaksOf, runJob, withFix } from '../workloads/tracedJob.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

const file = onCpu(inRoot('test/workloads/holders/kept_record.py'));
const how = words => ({
  ...{ python: process.env.GMT_TORCH_PYTHON, env: cpuVariables(), words },
  options: ['--simulate-gpu', '--holders', 'atSteps'],
});

for (const [name, words, statement] of [
  ['a record', [], 'history.append({"loss": loss.detach().cpu(), "acc": acc.detach().cpu()})'],
  ['a tuple', ['tuple'], 'kept.append((loss.detach().cpu(), out.detach().cpu()))'],
])
  test(`${name} of two tensors, kept by one statement`, async () => {
    const { report, stdout } = await runJob(file, how(words));
    const fix = fixFor(file, report);
    assert.equal(fix?.statement, statement, JSON.stringify(leaksOf(report).map(({ holder }) => holder)));
    await withFix(file, fix, async copy => {
      const fixed = await runJob(copy, how(words));
      assert.deepEqual(
        leaksOf(fixed.report).map(({ title }) => title),
        [],
      );
      assert.equal(fixed.stdout, stdout);
    });
  });
