// Findings of a run of plain blocks, as tests of them ask.
import assert from 'node:assert/strict';
import { judgeTrace } from '../../../extension/analysis/findings/judgeTrace';
import type { BlockFacts } from '../../../extension/protocol/trace';
import type { Finding, Fix } from '../../../extension/protocol/verdicts';
import { type RunFacts, RunTrace, SCRIPT } from './runTrace';
import { type Block, StepRun } from './stepRun';

/** Ends so many steps, each after `act`. */
export function playing(steps: number, act: (step: number, run: StepRun) => void, run = new StepRun()): StepRun {
  for (let step = 1; step <= steps; step++) {
    act(step, run);
    run.endStep();
  }
  return run;
}

/** `source`: text of the script's lines. */
export function findingsOf(run: StepRun, facts: RunFacts = {}, source: Record<number, string> = {}): Finding[] {
  return judgeTrace(new RunTrace(run, facts), (file, line) => (file === SCRIPT ? (source[line] ?? null) : null))
    .findings;
}

export function only(findings: Finding[]): Finding {
  assert.equal(findings.length, 1, findings.map(finding => finding.title).join('\n'));
  return findings[0] as Finding;
}

/** Blocks as an answer of the agent names them. */
export const addresses = (blocks: Block[]): string[] => blocks.map(block => `0x${block.address.toString(16)}`);

/** What is known of blocks that stand in an answer. */
export const blockFacts = (blocks: Block[]): BlockFacts[] =>
  blocks.map(({ address, bytes, site, step }) => {
    return { address, known: true, alive: true, bytes, site, device: 0, step, timeNs: 0 };
  });

/** What the agent tells of a statement that keeps `loss`, and is `statement` when that is mended. */
export const detachFix = (line: number, statement: string): Fix => {
  const place = { line, column: 14, endLine: line, endColumn: 18 };
  return { ...place, before: 'loss', after: 'loss.detach()', adds: '.detach()', statement };
};
