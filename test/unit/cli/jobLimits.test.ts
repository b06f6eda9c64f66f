// What the trace of a rank may take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRanks } from '../../../extension/cli/arguments/ranks';
import { jobLimits } from '../../../extension/cli/job/jobRecording';

const FULL = { budgetBytes: 1 << 30, detailBytes: 1 << 28 };
const budget = (ranks: string | null, command: string[]): number =>
  jobLimits(FULL, ranks === null ? null : parseRanks(ranks), command).budgetBytes >> 20;

test('ranks that are not named take 48 MB; launchers and who has no rank are recorded in full', () => {
  delete process.env.RANK;
  process.env.SLURM_PROCID = '3';
  assert.equal(budget('0,7-9', ['python', 'train.py']), 48);
  assert.equal(budget('0-3', ['python', 'train.py']), 1024);
  assert.equal(budget(null, ['python', 'train.py']), 1024);
  for (const launcher of [['/usr/bin/torchrun'], ['python', '-m', 'torch.distributed.run'], ['mpirun', '-n', '8']])
    assert.equal(budget('0', [...launcher, 'train.py']), 1024);
  delete process.env.SLURM_PROCID;
  assert.equal(budget('0', ['python', 'train.py']), 1024);
});
