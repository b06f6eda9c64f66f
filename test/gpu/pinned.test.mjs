// Pinned tensors that PyTorch rounds up to powers of two: what they need and take, who keeps them, and that two ways around it hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inRoot } from '../project/root.mjs';
import { runTraced } from './traced.mjs';

const lines = readFileSync(inRoot('test/workloads/pinned_rounded.py'), 'utf8').split('\n');
const lineOf = word => lines.findIndex(line => line.endsWith(`# ${word}`)) + 1;
const COUNT = 24;
const [NEEDED, TAKEN] = [72, 128].map(mib => COUNT * mib * 2 ** 20);

function recorded(way) {
  const run = runTraced({ workload: 'pinned_rounded', options: [way] });
  assert.equal(run.status, 0, run.stderr);
  assert.deepEqual(JSON.parse(run.stdout), { pinned: true, needed: NEEDED });
  const { findings, totals } = run.saved;
  const taken = totals.find(({ layer }) => layer === 'host')?.peakBytes ?? 0;
  console.log(`${way}: ${taken} of pinned memory; ${findings.map(({ title }) => title).join('; ') || 'no finding'}`);
  return { findings, taken };
}

test('pinned tensors that take more than they need are a note with their holder and their line', () => {
  const { findings, taken } = recorded('each');
  assert.ok(taken >= TAKEN, `${taken}`);
  assert.equal(findings.length, 1);
  const [{ verdict, layer, bytes, count, place, holder }] = findings;
  assert.deepEqual([verdict, layer, bytes, count], ['rounded', 'host', TAKEN, COUNT]);
  assert.deepEqual([place.line, holder.path, holder.line], [lineOf('SITE'), '__main__.experts[...]', lineOf('HOLDER')]);
});

for (const [way, most] of [
  ['slices', 2 * 2 ** 30],
  ['register', NEEDED],
])
  test(`pinned tensors that take no more than they need: ${way}`, () => {
    const { findings, taken } = recorded(way);
    assert.ok(taken >= NEEDED && taken < most + 2 ** 26, `${taken}`);
    assert.deepEqual(
      findings.filter(({ verdict }) => verdict === 'rounded' || verdict === 'leak'),
      [],
    );
  });
