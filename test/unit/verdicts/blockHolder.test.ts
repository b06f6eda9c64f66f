import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holderOfBlock } from '../../../extension/analysis/findings/blockHolder';
import type { BlockFacts } from '../../../extension/protocol/trace';
import { RunTrace } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';

const block = (address: bigint, timeNs: number): BlockFacts => {
  return { address, known: true, alive: true, bytes: 1, site: 1, device: 0, step: 1, timeNs };
};
const answer = (path: string, timeNs: number): { text: string; blocks: BlockFacts[] } => ({
  text: JSON.stringify({
    holders: [{ address: '0x10', path, kind: 'local', file: '/t.py', line: 4, chain: ['a', 'b'] }],
  }),
  blocks: [block(16n, timeNs)],
});
const trace = new RunTrace(new StepRun(), { answers: [answer('old', 5), answer('new', 5), answer('reused', 9)] });

test('the newest answer on the very block counts, not one on a later block of the same address', () => {
  const found = holderOfBlock(trace, { process: 0, address: '0x10', timeNs: 5 });
  assert.deepEqual([found?.path, found?.chain, found?.line, found?.timeNs], ['new', ['a', 'b'], 4, 1]);
});

test('nobody asked, or another address: no holder', () => {
  assert.equal(holderOfBlock(trace, { process: 0, address: '0x20', timeNs: 5 }), null);
  assert.equal(holderOfBlock(trace, { process: 0, address: '0x10', timeNs: 6 }), null);
  assert.equal(holderOfBlock(trace, { process: 1, address: '0x10', timeNs: 5 }), null);
});
