import assert from 'node:assert/strict';
import type { Moment } from '../../../extension/protocol/requests/moment';
import type { LedgerSeries, TraceInfo } from '../../../extension/protocol/trace';
import { momentWords } from '../../../extension/report/tables/momentWords';
import { FakeTrace, makeInfo } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

/** Steps 1–4 in one point, then 5 and 6. */
class Stepped extends FakeTrace {
  constructor(
    private readonly count: number,
    private readonly live = false,
  ) {
    super(makeInfo({}), []);
  }
  override info(): TraceInfo {
    const steps = [{ process: 0, source: 'optimizer', count: this.count, lastEndNs: 7e9 }];
    return { ...makeInfo({}), live: this.live, steps } as unknown as TraceInfo;
  }
  override ledgerSeries(): LedgerSeries {
    const [first, last, endNs] = [Float64Array.of(1, 5, 6), Float64Array.of(4, 5, 6), Float64Array.of(4e9, 6e9, 7e9)];
    const none = new Float64Array(3);
    return { first, last, endNs, flags: none, fullCollections: none } as unknown as LedgerSeries;
  }
}

test('a moment is named by its step, or by its time where that is in none', () => {
  const at = (timeNs: number, peak?: true): Moment => ({ kind: 'at', timeNs, ...(peak && { peak }) });
  const moments = [at(6e9), at(2e9), at(5e9), at(8e9), at(5e9, true), at(8e9, true)];
  const born: Moment = { kind: 'born', fromNs: 4e9 + 1, toNs: 7e9 };
  const trace = new Stepped(6);
  assertSentence(
    [...moments, { kind: 'now' as const }, born, { ...born, atNs: 6e9 }].map(one => momentWords(trace, one)).join('\n'),
  );
  assertSentence([at(6e9), at(5e9, true), at(6e9), born].map(one => momentWords(new Stepped(0), one)).join('\n'));
  assert.equal(momentWords(trace, at(6e9 + 99)), momentWords(trace, at(6e9)), 'step 6 has not begun');
  assert.equal(momentWords(trace, at(7e9 + 99)), momentWords(trace, at(7e9)));
  const running = new Stepped(6, true);
  assert.equal(momentWords(running, { kind: 'now' }), null);
  assertSentence(momentWords(running, born));
});
