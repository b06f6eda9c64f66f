import assert from 'node:assert/strict';
import { foldEqualLayers } from '../../../extension/report/trees/equalLayers';
import { categoriesText } from '../../../extension/report/trees/modules';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const row = (label: string, liveBytes: number) => ({
  label,
  liveBytes,
  liveCount: 2,
  categories: { parameter: liveBytes / 4, activation: (liveBytes / 4) * 3 },
});
const folded = (rows: ReturnType<typeof row>[]) =>
  foldEqualLayers(rows).map(({ label, liveBytes, liveCount }) => [label, liveBytes, liveCount]);

test('equal layers are one row, with the sums of all', () => {
  const rows = [0, 1, 2, 3].map(layer => row(`layers.${layer}.mlp`, 1024));
  assert.deepEqual(folded([row('head', 100), ...rows]), [
    ['layers.0–3.mlp (4 of 1 KiB)', 4096, 8],
    ['head', 100, 2],
  ]);
  assertSentence(categoriesText(foldEqualLayers(rows)[0]!.categories));
});

test('a layer that differs stays a row, and so do two', () => {
  const rows = [0, 1, 2, 4, 5].map(layer => row(`layers.${layer}`, 1024));
  assert.deepEqual(folded([...rows, row('layers.3', 4096)]), [
    ['layers.0–2,4–5 (5 of 1 KiB)', 5120, 10],
    ['layers.3', 4096, 2],
  ]);
  assert.equal(folded([row('a.0', 8), row('a.1', 8)]).length, 2);
});

test('several numbers in a path; numbers within names stay', () => {
  const experts = [0, 1, 2].flatMap(layer =>
    [0, 1, 2, 3].map(expert => row(`layers.${layer}.experts.${expert}.w1`, 8)),
  );
  assert.deepEqual(folded(experts), [['layers.0–2.experts.0–3.w1 (12 of 8 B)', 96, 24]]);
  const blocks = [0, 1, 2, 3].flatMap(block => [0, 2].map(part => row(`${block}.${part}`, 8)));
  assert.deepEqual(folded(blocks), [
    ['0–3.0 (4 of 8 B)', 32, 8],
    ['0–3.2 (4 of 8 B)', 32, 8],
  ]);
  assert.equal(folded([row('conv1', 8), row('conv2', 8), row('conv3', 8)]).length, 3);
});
