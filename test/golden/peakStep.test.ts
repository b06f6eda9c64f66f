// The mark on the timeline and the card of the peak name the same step of a recorded trace.
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { TraceEngine } from '../../extension/engine/traceEngine';
import type { PageMethod } from '../../extension/protocol/requests/engineRequests';
import type { Peak, PeakCard, TimelineSteps } from '../../extension/protocol/requests/timelineRequests';
import { peakPlace, peakText } from '../../webview/explorer/timeline/span';

const root = resolve(__dirname, '../../..');

for (const [trace, file] of ['media/sample/finetune.gputrace', 'test/golden/trace/steps.gputrace'].entries())
  test(`the card and the mark of the peak name the same step: ${file}`, async () => {
    const engine = new TraceEngine(join(root, 'dist'), () => undefined);
    const opening = { trace, path: join(root, file), directory: null, findsHolders: false, ended: false };
    await engine.request('open', opening);
    await engine.request('readToEnd', { trace });
    const answer = (method: PageMethod, params: object): Promise<unknown> =>
      engine.request('answer', { trace, title: '', method, params: params as never, others: [] });
    const peak = (await answer('peakInside', { series: 'tensor', fromNs: 0, toNs: 1e15 })) as Peak;
    assert.equal(peak.fromNs, peak.toNs, 'the totals have its time');
    const moment = { kind: 'at', timeNs: peak.toNs + 100, peak: true };
    const { sentence } = (await answer('peakCard', { moment })) as PeakCard;
    const { axis } = (await answer('timelineSteps', { points: 2048 })) as TimelineSteps;
    const mark = peakText(peak, axis);
    assert.match(mark, /^step \d+$/);
    assert.ok(sentence.endsWith(mark), `${sentence}; the mark: ${mark}`);
    const { endNs } = axis!;
    for (let at = 3; at < endNs.length; at += 3) {
      const query = { series: 'tensor', fromNs: endNs[at - 3]!, toNs: endNs[at]! };
      const inSpan = (await answer('peakInside', query)) as Peak;
      const timeNs = Math.min(Math.floor(inSpan.toNs) + 100, query.toNs);
      await answer('readMoment', { moment: { kind: 'at', timeNs } });
      const card = (await answer('peakCard', { moment: { kind: 'at', timeNs, peak: true } })) as PeakCard;
      const named = Number(/ step (\d+)$/.exec(card.sentence)?.[1]);
      assert.ok(named > axis!.last[at - 3]! && named <= axis!.last[at]!, `${card.sentence}, of ${at - 2}–${at + 1}`);
      assert.equal(card.bytes, inSpan.bytes);
      assert.equal(peakPlace(inSpan, axis), `in step ${named}`);
      if (at > 30) break;
    }
    await engine.request('close', { trace });
  });
