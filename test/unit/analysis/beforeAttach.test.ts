import assert from 'node:assert/strict';
import { readSnapshot } from '../../../extension/report/tables/snapshot';
import { renderTable } from '../../../extension/report/tables/table';
import { textOf } from '../../../extension/text/escapeForTerminal';
import type { Note } from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals } from '../fakeTrace';
import { wholeReport } from '../wholeReport';
import { linesOf, sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const came: Note = { code: 10, text: 'The tracer came to a program that ran already.' };

function makeTrace(notes: Note[]): FakeTrace {
  const info = makeInfo({
    processes: [makeProcess({ notes })],
    totals: [makeTotals({ liveBytes: 4096, liveCount: 1, allocations: 8, frees: 7, unmatchedFrees: 3 })],
  });
  const row = { process: 0, thread: 0, layer: 'tensor' as const, site: 5, device: 0 };
  const site = makeSite({ id: 5, source: 'before-attach', frames: [], userFrame: -1 });
  return new FakeTrace(info, [{ ...row, address: 0x7f00n, bytes: 4096, timeNs: 0 }], [site]);
}

test('frees of what was there before the tracer came are no unmatched ones', () => {
  const [late] = wholeReport(makeTrace([came])).totals;
  assert.deepEqual([late?.unmatchedFrees, late?.beforeAttachFrees], [0, 3]);
  const [early] = wholeReport(makeTrace([])).totals;
  assert.deepEqual([early?.unmatchedFrees, early?.beforeAttachFrees], [3, 0]);
});

test('a block of before has "allocated before recording" in the place of its line, and is no leak', () => {
  const report = wholeReport(makeTrace([came]));
  assert.equal(report.sites.find(({ id }) => id === 5)?.lineSource ?? 'before-attach', 'before-attach');
  assert.deepEqual(report.findings, []);
  const lines = renderTable(readSnapshot(makeTrace([came]), { groupBy: 'line', top: 10, groups: 5 }), {
    now: new Date(0),
  });
  const text = textOf(lines);
  assert.match(text, /0x7f00:gpu_0: 4 KiB {2}\(allocated before recording\)/);
  assertSentence(linesOf(text, /frees|NOTE/));
});
