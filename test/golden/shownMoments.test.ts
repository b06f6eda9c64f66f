// What stands beside the page is of its moment; two runs of which one went further are compared at the last step of both.
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { TraceEngine } from '../../extension/engine/traceEngine';
import type { ComparedTrace, Comparison } from '../../extension/protocol/requests/compareRequests';
import type { PageMethod } from '../../extension/protocol/requests/engineRequests';
import type { Moment } from '../../extension/protocol/requests/moment';
import type { TimelineSteps } from '../../extension/protocol/requests/timelineRequests';
import type { SiteWindow } from '../../extension/protocol/trace';

const root = resolve(__dirname, '../../..');
const FILES = ['media/sample/finetune.gputrace', 'test/golden/trace/steps.gputrace'];

async function openAll() {
  const engine = new TraceEngine(join(root, 'dist'), () => undefined);
  for (const [trace, file] of FILES.entries()) {
    await engine.request('open', {
      ...{ trace: trace + 1, path: join(root, file), directory: null, findsHolders: false, ended: false },
    });
    await engine.request('readToEnd', { trace: trace + 1 });
  }
  const [own, other] = [1, 2].map(trace => ({ trace, title: FILES[trace - 1]! }));
  const answer = (method: PageMethod, params?: object): Promise<unknown> =>
    engine.request('answer', { ...own!, method, params: params as never, others: [other!] });
  return { engine, answer };
}

test('lines of the editor and the figure of the status bar are those of the table at the same moment', async () => {
  const { engine, answer } = await openAll();
  const { axis } = (await answer('timelineSteps', { points: 2048 })) as TimelineSteps;
  const [fromNs, toNs] = [Math.floor(axis!.endNs[4]!) + 1, Math.floor(axis!.endNs[9]!)];
  const moments: Moment[] = [
    { kind: 'at', timeNs: toNs },
    { kind: 'born', fromNs, toNs, atNs: toNs },
  ];
  const order = { layer: 'tensor', groupBy: 'line', sort: 'liveBytes', descending: true, from: 0, to: 99 } as const;
  const seen = new Set<number>();
  for (const moment of moments) {
    const rows = (await answer('sites', { ...order, moment })) as SiteWindow;
    const { bytes, when } = await engine.request('nameMoment', { trace: 1, moment });
    assert.equal(bytes, rows.sumLiveBytes);
    assert.match(when ?? '', new RegExp(`\\bat the end of step ${axis!.last[9]}\\b`));
    const of = { trace: 1, folders: { cwd: '/', beside: null }, moment };
    const path = rows.file[0]!;
    const { files, mostBytes } = await engine.request('lines', { ...of, paths: [path] });
    assert.equal(mostBytes, rows.liveBytes[0]);
    const live = files.get(path)?.find(({ line }) => line === rows.line[0])?.liveBytes;
    assert.equal(live, rows.liveBytes[0], `${path}:${rows.line[0]} of ${files.size}`);
    seen.add(bytes ?? 0);
  }
  assert.equal(seen.size, 2, 'what was allocated in the span is not all');
  await engine.request('close', { trace: 1 });
  await engine.request('close', { trace: 2 });
});

test('the last step of two runs is known, with its end in each', async () => {
  const { engine, answer } = await openAll();
  const [own, other] = (await answer('compareTraces')) as ComparedTrace[];
  const [most, least] = [own, other].map(run => run!.steps[0]!);
  assert.notEqual(most!.step, least!.step);
  const { common } = other!;
  assert.equal(common?.step, Math.min(most!.step, least!.step));
  const isShorter = most!.step < least!.step;
  const end = isShorter ? common.shownNs : common.ownNs;
  assert.equal(end, Math.round((isShorter ? most! : least!).endNs));
  assert.equal(own!.common, null);
  const points = { a: { trace: 2, timeNs: common.ownNs }, b: { trace: 0, timeNs: common.shownNs } };
  const scope = { by: 'line', layer: 'tensor', process: -1, device: -1, rows: 5 };
  const compared = (await answer('compare', { ...points, ...scope })) as Comparison;
  assert.ok(compared.bytesA > 0 && compared.bytesB > 0);
  await engine.request('close', { trace: 1 });
  await engine.request('close', { trace: 2 });
});
