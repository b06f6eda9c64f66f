// When a training was in which pass, and the peak of each step, as the job itself tells them.
import { test } from 'node:test';
import { passesAgree } from './passesAgree.mjs';
import { jobFile, python } from './traced.mjs';

test('passes and the peaks of steps are those of the job', () => {
  const { parts, steps, highest } = passesAgree([python, jobFile('passes')]);
  console.log(`${parts} parts, ${steps} peaks; highest: ${highest.bytes} in ${highest.phase}, ${highest.line}`);
});
