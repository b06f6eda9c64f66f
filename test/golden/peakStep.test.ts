// The mark on the timeline and the card of the peak name the same step of a recorded trace.
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { TraceEngine } from '../../extension/engine/traceEngine';
import type { PageMethod } from '../../extension/protocol/requests/engineRequests';
import type { Peak, PeakCard, TimelineSteps } from '../../extension/protocol/requests/timelineRequests';
import { peakText } from '../../webview/explorer/timeline/span';

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
    await engine.request('close', { trace });
  });
