// The words of a leak: which lines, how much, and that it is none any more.
import assert from 'node:assert/strict';
import { leakWords, makeFinding } from '../../../extension/analysis/findings/kinds/wording';
import { takenBackLine } from '../../../extension/report/tables/tableFindings';
import type { FindingHolder } from '../../../extension/protocol/verdicts';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const holder: FindingHolder = {
  ...{ path: 'log.a[...]', kind: 'container', file: '/src/train.py', line: 23, function: 'keep' },
  ...{ length: 60, bound: null },
};
const other = (line: number) => ({ path: `log.b${line}[...]`, file: '/src/train.py', line, blocks: 60 });
const facts = (more: Partial<Parameters<typeof leakWords>[0]> = {}): Parameters<typeof leakWords>[0] => ({
  ...{ class: 'outputs', layer: 'tensor', bytesPerStep: 1016, blocksPerStep: 1.98, bytes: 120 * 512, count: 120 },
  ...{ place: null, library: null, holder, lines: 1, period: 1, sinceStep: 12 },
  ...more,
});

test('the rate is that of the editor and of the table', () => {
  const whole = leakWords(facts({ holder: null }));
  assert.match(whole.detail ?? '', /^1016 B /);
  assertSentence(`${whole.headline}\n${whole.detail}`);
});

test('since when is told where it is sure: not of what began with the warm-up', () => {
  const since = (sinceStep: number): string | null => leakWords(facts({ sinceStep, place: null, library: 'x' })).detail;
  assertSentence(since(1));
  assertSentence(since(3));
  assertSentence(since(4));
});

test('growth in some of the steps: whose memory stays, or how often it is allocated', () => {
  for (const kind of ['outputs', 'graph', 'size', 'driver'] as const)
    for (const named of [holder, null]) {
      const layer = kind === 'driver' ? 'driver' : 'tensor';
      const { headline, detail } = leakWords(facts({ class: kind, layer, holder: named, period: 5 }));
      assertSentence(`${headline}: ${detail}`);
    }
});

test('a line is said to keep what it keeps; what others keep as well is told with their lines', () => {
  const shared = (...lines: number[]) =>
    leakWords(
      facts({ holder: { ...holder, share: { blocks: 60, of: 120, others: lines.length, named: lines.map(other) } } }),
    );
  assertSentence(leakWords(facts()).headline);
  assertSentence(shared(24).headline);
  assertSentence(shared(23).headline);
  assertSentence(shared(24, 25).headline);
});

test('a leak that is none is taken back without saying that it keeps something', () => {
  const finding = makeFinding({ id: '', verdict: 'leak', headline: 'x keeps y', process: 0, suggestion: '', holder });
  assertSentence(takenBackLine(finding, 'It has not grown since step 40.'));
});
