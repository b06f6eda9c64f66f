// Pinned tensors that PyTorch's cache rounds up to powers of two.
import assert from 'node:assert/strict';
import type { Finding } from '../../../extension/protocol/verdicts';
import { addresses, blockFacts, findingsOf, only, playing } from '../runs/findingRuns';
import { SCRIPT } from '../runs/runTrace';
import { StepRun } from '../runs/stepRun';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const MB = 1 << 20;
const TORCH = '/opt/torch/lib/libtorch_cuda.so';

const repeated = (times: number, act: () => unknown): unknown => Array.from({ length: times }, act);

/** Findings on `count` tensors of so many bytes, each in a block of its own, of which the agent names 16. */
function findingsFor({ bytes = 72 * MB, block = 128 * MB, count = 24, library = TORCH, when = 'exit' }): Finding[] {
  const run = new StepRun();
  run.site(1, { layer: 'host', device: -1, library });
  playing(20, step => step === 1 && repeated(count, () => run.alloc(1, block)), run);
  const named = run.blocks(1).slice(0, 16);
  const rounded = count * 2 ** Math.ceil(Math.log2(bytes));
  const holder = { path: '__main__.experts[...]', kind: 'container', file: SCRIPT, line: 8 };
  const group = { ...holder, count, bytes: count * bytes, rounded, addresses: addresses(named) };
  const text = JSON.stringify({ when, ok: true, cut: false, groups: [group] });
  const found = findingsOf(run, { lines: { 1: 7 }, answers: [{ text, blocks: blockFacts(named) }] });
  return found.filter(({ verdict }) => verdict === 'rounded');
}

test('tensors that take far more pinned memory than they need', () => {
  const finding = only(findingsFor({}));
  const { layer, class: kind, bytes, count, place, holder, sites } = finding;
  assert.deepEqual([layer, kind, bytes, count, sites], ['host', null, 24 * 128 * MB, 24, [1]]);
  assert.deepEqual([place?.line, holder?.path, holder?.line], [7, '__main__.experts[...]', 8]);
  assert.match(finding.suggestion, /pinned_max_cached_size_mb:64`/);
  assertSentence([finding.title, ...finding.ruledOut, finding.suggestion].join('\n'));
});

test('what is no rounding, or too little of it, is no finding', () => {
  assert.equal(findingsFor({ bytes: 128 * MB }).length, 0, 'a power of two');
  assert.equal(findingsFor({ bytes: 120 * MB }).length, 0, 'nearly one');
  assert.equal(findingsFor({ count: 2 }).length, 0, 'two of them');
  assert.equal(findingsFor({ count: 3 }).length, 1);
  assert.equal(findingsFor({ block: 72 * MB }).length, 0, 'the cache does not round');
  assert.equal(findingsFor({ library: '/opt/own/libown.so' }).length, 0, 'not PyTorch’s');
  const run = new StepRun();
  run.site(1, { layer: 'host', device: -1, library: TORCH });
  playing(60, (_, run) => run.alloc(1, 16 * MB), run);
  const group = { path: 'kept[...]', kind: 'container', file: SCRIPT, line: 8, addresses: addresses(run.blocks(1)) };
  const text = JSON.stringify({ groups: [{ ...group, count: 60, bytes: 60 * 9 * MB, rounded: 60 * 16 * MB }] });
  const leak = only(findingsOf(run, { answers: [{ text, blocks: blockFacts(run.blocks(1)) }] }));
  assert.equal(leak.verdict, 'leak', 'a leak comes first');
});

test('what a search saw while the program ran counts where its end has less', () => {
  const run = new StepRun();
  run.site(1, { layer: 'host', device: -1, library: TORCH });
  playing(20, step => step === 1 && repeated(8, () => run.alloc(1, 128 * MB)), run);
  const blocks = run.blocks(1);
  const answerOf = (when: string, count: number) => {
    const facts = { count, bytes: count * 72 * MB, rounded: count * 128 * MB };
    const group = { path: 'main().experts[...]', kind: 'container', ...facts, addresses: addresses(blocks) };
    return { text: JSON.stringify({ when, groups: count === 0 ? [] : [group] }), blocks: blockFacts(blocks) };
  };
  const finding = only(findingsOf(run, { answers: [answerOf('step', 8), answerOf('exit', 0)] }));
  assert.deepEqual([finding.verdict, finding.count], ['rounded', 8]);
});
