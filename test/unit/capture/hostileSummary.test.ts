// What others write into a job's folder: numbers that are none make a summary unreadable, and never the folder.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processName, traceName } from '../../../extension/capture/traces/jobFolder';
import { parseSummary } from '../../../extension/protocol/job';
import { rankIn } from '../../../extension/protocol/rank';
import { jobView } from '../../../extension/analysis/job/jobView';
import { makeRank } from '../analysis/jobRanks';

test('a rank and a size of the job are counts', () => {
  const right = JSON.stringify(makeRank(0, 1));
  assert.notEqual(parseSummary(right), null);
  for (const name of ['rank', 'worldSize'])
    for (const value of ['1e308', '-1', '1.5', '"x"', '[]', '{}', '99999999999', `"${'9'.repeat(10_000)}"`]) {
      const text = right.replace(new RegExp(`"${name}":[^,}]*`), `"${name}":${value}`);
      assert.equal(parseSummary(text), null, `${name}: ${value.slice(0, 20)}`);
    }
});

test('a launcher’s garbage is no number', () => {
  for (const value of ['99999999999', '1e308', '-1', '²', 'x'])
    assert.equal(rankIn([['WORLD_SIZE', value]]).worldSize, null, value);
  assert.equal(rankIn([['WORLD_SIZE', '1024']]).worldSize, 1024);
});

test('the biggest job that is believed is still shown', () => {
  const summary = makeRank(0, 9_999_999);
  assert.notEqual(jobView([{ key: 'a', writtenMs: 0, summary }], 0), null);
});

test('a process is named by its trace, which says when it began', () => {
  const name = traceName('n 1', 7, new Date('2026-11-27T10:11:12.345Z'));
  assert.equal(name, 'n_1-7-20261127-101112.gputrace');
  assert.equal(processName({ host: 'n 1', pid: 7, trace: `traces/${name}` }), 'n_1-7-20261127-101112');
  assert.equal(processName({ host: 'n1', pid: 7, trace: 'traces/n1-7.gputrace' }), 'n1-7');
});
