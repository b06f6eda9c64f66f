import assert from 'node:assert/strict';
import { gateWords, judgeGate, noiseText, unknownOf, type GatedRun } from '../../../extension/report/gate/gate';
import type { Holding } from '../../../extension/report/gate/compareHoldings';
import { makeInfo } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const at = (line: number, bytes: number): Holding => ({
  frames: [{ file: '/w/train.py', line, function: 'step' }],
  named: 0,
  bytes,
  count: 1,
});
const run = (peakBytes: number, growth: Holding[] = [], more: Partial<GatedRun> = {}): GatedRun => ({
  file: `${peakBytes}.gputrace`,
  cwd: '/w',
  simulated: false,
  steps: 100,
  unknown: [],
  peakBytes,
  peak: [at(8, peakBytes)],
  growth,
  ...more,
});

test('the highest base run counts, and how much they differ is told', () => {
  const bases: [GatedRun, GatedRun] = [run(106), run(110)];
  assert.equal(judgeGate(bases, run(115), 0.05).passed, true);
  const above = judgeGate(bases, run(116), 0.05);
  assert.deepEqual([above.passed, above.peak.baseBytes, above.lines.map(row => row.bytesA)], [false, 110, [110]]);
  assertSentence(noiseText(above));
});

test('runs that broke off, that differ in steps, or bases that differ among themselves: unknown', () => {
  const gate = (now: GatedRun, ...bases: [GatedRun, ...GatedRun[]]) => judgeGate(bases, now, 0.05);
  assertSentence(unknownOf('x.gputrace', makeInfo({ totals: [] }), 0, 137)[0]);
  const differing = gate(run(90, [], { steps: 2 }), run(100));
  assert.equal(differing.passed, null);
  assertSentence(gateWords(differing));
  assert.equal(gate(run(90, [], { steps: 60 }), run(100)).passed, true);
  const noisy = gate(run(90), run(100), run(50));
  assert.equal(noisy.passed, null);
  assertSentence(gateWords(noisy));
});

test('growth is above only where it is above that of every base run', () => {
  const bases: [GatedRun, GatedRun] = [run(100, [at(9, 10)]), run(100, [at(9, 20)])];
  assert.equal(judgeGate(bases, run(100, [at(9, 20)]), 0.05).passed, true);
  const above = judgeGate(bases, run(100, [at(9, 22), at(30, 1)]), 0.05);
  assert.deepEqual(above.growth.map(row => row.line).sort(), [30, 9]);
  assertSentence(gateWords(above));
});

test('lost events, an empty trace and a simulated GPU beside a real one: unknown', () => {
  const losing = run(100, [], { unknown: unknownOf('x.gputrace', makeInfo({ totals: [] }), 5, 0) });
  const gate = judgeGate([run(100)], losing, 0.05);
  assert.equal(gate.passed, null);
  assertSentence(gateWords(gate));
  assertSentence(unknownOf('x.gputrace', makeInfo({ totals: [] }), 0, null).join('\n'));
  assertSentence(judgeGate([run(100)], run(90, [], { simulated: true }), 0.05).unknown[0]);
});
