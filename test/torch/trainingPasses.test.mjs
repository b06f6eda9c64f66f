// When a training was in which pass, as the job itself tells it: on a real PyTorch without a GPU.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passesAgree } from '../gpu/passesAgree.mjs';
import { inRoot } from '../project/root.mjs';
import { cpuVariables, onCpu } from './onCpu.mjs';

test('passes are those of the job', () => {
  const variables = cpuVariables();
  const words = [process.env.GMT_TORCH_PYTHON, onCpu(inRoot('test/gpu/jobs/passes.py'))];
  const path = `${variables.PYTHONPATH}:${inRoot('test/gpu/jobs')}`;
  const { parts, highest } = passesAgree(words, ['--simulate-gpu'], { ...variables, PYTHONPATH: path });
  assert.deepEqual([parts, highest.phase], [30, 'backward']);
});
