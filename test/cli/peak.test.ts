// The peak is explained: when it was, and what it was made of, part by part.
import assert from 'node:assert/strict';
import { Place, python, workload } from './launcher';
import { linesOf, sentencesOf } from '../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

interface PeakReport {
  moment: { peak: { bytes: number; phase: string; module: string; line: string; [parts: string]: unknown } };
  totals: { layer: string; peakBytes: number }[];
}

test('the parts of the peak sum to it', async t => {
  const place = new Place(t);
  const ended = await place.trace([python, workload('modules/program')]);
  assert.equal(ended.status, 0, ended.stderr);
  const report = (...words: string[]) => place.run(['report', place.path('t.gputrace'), '--at', 'peak', ...words]);
  const { moment, totals } = JSON.parse((await report('--format', 'json')).stdout) as PeakReport;
  const peak = moment.peak;
  assert.equal(peak.bytes, totals.find(({ layer }) => layer === 'tensor')?.peakBytes);
  for (const parts of ['categories', 'modules'])
    assert.equal(
      (peak[parts] as { bytes: number }[]).reduce((sum, { bytes }) => sum + bytes, 0),
      peak.bytes,
      parts,
    );
  assert.deepEqual([peak.phase, peak.module], ['forward', 'Second (path unknown)']);
  const table = (await report()).stdout;
  assert.match(table, /^10\.50 KiB .* program\.py:13 /m);
  assert.match(table, /^ {2}.*: 5 KiB Second .*, 4 KiB Outer /m);
  // Since Python 3.12 a comprehension has no name of its own.
  assertSentence(linesOf(table, /^10\.50 KiB|module:/).replace(/ Layer\S*:/, ' NAME:'));
});
