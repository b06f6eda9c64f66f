// What the page as a file answers is what the engine answers.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { TraceEngine } from '../../../extension/engine/traceEngine';
import { htmlFile } from '../../../extension/html/htmlFile';
import { recordPage } from '../../../extension/html/recordPage';
import type { PageMethod } from '../../../extension/protocol/requests/engineRequests';
import type { Params, Result, SessionView } from '../../../extension/protocol/requests/messages';
import { JUST_AFTER_NS } from '../../../extension/report/tables/ending';
import { NOW, type Moment } from '../../../extension/protocol/requests/moment';
import { TREE_WEIGHTS } from '../../../extension/protocol/requests/treeRequests';
import { SITE_SORTS, type SiteWindow } from '../../../extension/protocol/trace';
import { RecordedAnswers } from '../../../webview/recorded/recordedAnswers';
import { unpack } from '../../../webview/recorded/unpack';
import { LONG } from '../../long.mjs';
import { dist, root } from '../../cli/launcher';

const TRACES = ['media/sample/finetune.gputrace', 'test/golden/trace/two_processes.gputrace'];
const FILTERS = ['', 'PY', '>1MB', '<=100KB', 'py >10kb', 'nothing has this'];
const ALL = { process: -1, device: -1 };

/** Revisions of a moment that was read twice may differ, as not all of it is there at once; and so may colours, which go by the order of requests. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (name, one: unknown) => {
      if (['revision', 'slots', 'hues'].includes(name)) return 0;
      if (typeof one === 'bigint') return String(one);
      if (typeof one === 'number' && !Number.isFinite(one)) return String(one);
      return ArrayBuffer.isView(one)
        ? Array.from(one as Float64Array, each => (Number.isNaN(each) ? 'NaN' : each))
        : one;
    }).replace(/-?\d{15,}\.\d+|-?\d+\.\d{10,}/g, number => Number(number).toPrecision(12)),
  );

for (const trace of TRACES) {
  describe(trace, () => {
    const path = join(root, trace);
    const engine = new TraceEngine(dist, () => undefined);
    let session: SessionView;
    let answers: RecordedAnswers;
    let moments: Moment[];

    before(async () => {
      const html = htmlFile(await recordPage(send => new TraceEngine(dist, send), { path }), dist);
      const file = await unpack(/id="recorded">([^<]*)</.exec(html)?.[1] ?? '');
      session = file.session;
      answers = new RecordedAnswers(session, file.valueOf, () => Promise.resolve());
      await engine.request('open', { trace: 1, path, directory: null, findsHolders: false, ended: false });
      await engine.request('readToEnd', { trace: 1 });
      const at = (session.moments ?? []).map((timeNs): Moment => ({ kind: 'at', timeNs }));
      moments = [NOW, ...(LONG ? at : at.filter((_, i) => i % 7 === 0))];
    });
    after(() => engine.request('close', { trace: 1 }));

    async function ask<M extends PageMethod>(method: M, params: Params<M>): Promise<Result<M>> {
      const question = { trace: 1, title: session.title, method, params: params as never, others: [] };
      return (await engine.request('answer', question)) as Result<M>;
    }
    async function same<M extends PageMethod>(method: M, params: Params<M>): Promise<Result<M>> {
      const found = (await answers.answer(method, params)) as Result<M>;
      assert.deepEqual(plain(found), plain(await ask(method, params)), `${method} ${JSON.stringify(params)}`);
      return found;
    }
    const layers = (): ('tensor' | 'driver')[] =>
      (['tensor', 'driver'] as const).filter(layer => session.info?.totals.some(one => one.layer === layer));

    test('rows in each order, of each moment', async () => {
      for (const moment of moments)
        for (const layer of layers())
          for (const groupBy of [
            'site',
            'line',
            'function',
            'file',
            'thread',
            'process',
            'device',
            'category',
          ] as const)
            for (const sort of groupBy === 'line' ? SITE_SORTS : (['liveBytes'] as const)) {
              const query = { layer, groupBy, sort, descending: true, from: 1, to: 6, moment, ...ALL };
              const found = (await answers.answer('sites', query)) as SiteWindow;
              const expected = await ask('sites', query);
              const { total, sumLiveBytes, sumLiveCount } = expected;
              assert.deepEqual(
                [found.total, found.sumLiveBytes, found.sumLiveCount],
                [total, sumLiveBytes, sumLiveCount],
              );
              // Equal rows may stand in either order.
              const column = (window: SiteWindow): unknown => (sort === 'label' ? window.label : window[sort]);
              assert.deepEqual(plain(column(found)), plain(column(expected)), `${groupBy} ${sort}`);
            }
    });

    test('the peak, as exactly as it is known', async () => {
      const span = { series: 'tensor', fromNs: 0, toNs: Math.ceil(session.info!.durationNs), ...ALL } as const;
      const { fromNs, toNs, bytes } = (await answers.answer('peakInside', span)) as Result<'peakInside'>;
      const exact = await answers.answer('exactPeak', { ...span, fromNs, toNs, bytes });
      const { done, peak } = exact as Result<'exactPeak'>;
      assert.deepEqual([done, peak?.bytes], [true, bytes]);
      const moment = { kind: 'at', timeNs: Math.floor(peak!.toNs) + JUST_AFTER_NS, peak: true } as const;
      assert.ok((await answers.answer('peakCard', { moment, ...ALL })) !== undefined);
    });

    test('filtered rows', async () => {
      for (const filter of FILTERS)
        for (const groupBy of ['site', 'line', 'function'] as const) {
          const query = {
            layer: 'tensor',
            groupBy,
            sort: 'liveBytes',
            descending: true,
            from: 0,
            to: 50,
            filter,
          } as const;
          const found = (await answers.answer('sites', { ...query, ...ALL })) as SiteWindow;
          const expected = await ask('sites', { ...query, ...ALL });
          assert.deepEqual(
            [found.total, found.sumLiveBytes],
            [expected.total, expected.sumLiveBytes],
            `${groupBy} ${filter}`,
          );
        }
    });

    test('trees of stacks and modules', async () => {
      for (const moment of moments)
        for (const weight of TREE_WEIGHTS) {
          const query = { layer: 'tensor', weight, minShare: 1e-4, moment, ...ALL } as const;
          const found = (await answers.answer('stackTree', query)) as Result<'stackTree'>;
          const expected = await ask('stackTree', query);
          const sums = (tree: Result<'stackTree'>): unknown => [
            tree.totalBytes,
            tree.nodes,
            [...tree.sumBytes].sort((a, b) => a - b),
            tree.frames.map(frame => JSON.stringify(frame)).sort(),
          ];
          assert.deepEqual(sums(found), sums(expected), weight);
        }
    });

    test('blocks, stacks, segments and cards', async () => {
      const rows = (await answers.answer('sites', {
        ...{ layer: 'tensor', groupBy: 'site', sort: 'liveBytes', descending: true, from: 0, to: 5 },
      })) as SiteWindow;
      for (const site of rows.id) {
        await same('site', { id: site });
        await same('freeLines', { site });
        for (const sort of ['address', 'age', 'bytes'] as const)
          for (const descending of [true, false]) {
            const query = { layer: 'tensor', site, sort, descending, from: 0, to: 20 } as const;
            const found = (await answers.answer('allocations', query)) as Result<'allocations'>;
            const expected = await ask('allocations', query);
            assert.deepEqual([found.total, found.sumBytes], [expected.total, expected.sumBytes]);
            const column = { address: 'address', age: 'ageSteps', bytes: 'bytes' } as const;
            assert.deepEqual(plain(found[column[sort]]), plain(expected[column[sort]]), `${sort} ${descending}`);
          }
      }
      for (const moment of moments) {
        await same('ledger', { moment });
        if (moment.kind !== 'now') await same('readMoment', { moment });
      }
      for (const { process, device } of session.info?.totals ?? [])
        if (device >= 0) await same('segments', { process, device });
    });

    test('findings, verdicts and the timeline', async () => {
      const { findings } = await same('findings', undefined);
      await same('builtUp', undefined);
      for (const { id } of findings) await same('otherLines', { finding: id });
      const ids = [...((await ask('sites', { ...ROWS, groupBy: 'line' })) as SiteWindow).id];
      await same('verdicts', { sites: ids, groupBy: 'line' });
      await same('timelineSteps', { points: 2048 });
      for (const layer of layers())
        for (const by of ['line', 'category', 'thread'] as const)
          await same('stackedTimeline', { layer, by, rank: 'peak', top: 6, ...ALL });
      const [compared] = (await answers.answer('compareTraces', undefined)) as Result<'compareTraces'>;
      const [expected] = await ask('compareTraces', undefined);
      assert.deepEqual(plain({ ...compared, steps: [] }), plain({ ...expected, steps: [] }));
      for (const { endNs } of compared?.steps ?? []) {
        const moment = { kind: 'at', timeNs: Math.floor(endNs) };
        assert.equal(((await answers.answer('readMoment', { moment })) as Result<'readMoment'>).done, true);
      }
      assert.deepEqual(compared?.steps.slice(0, 2), expected?.steps.slice(0, 2));
    });

    test('two moments beside each other', async () => {
      for (const moment of moments)
        for (const by of ['line', 'stack'] as const) {
          const timeNs = moment.kind === 'at' ? moment.timeNs : null;
          const points = { a: { trace: 0, timeNs }, b: { trace: 0, timeNs: null } };
          const query = { ...points, by, layer: 'tensor', rows: 100, ...ALL } as const;
          const [found, expected] = [
            answers.answer('compare', query) as Result<'compare'>,
            await ask('compare', query),
          ];
          assert.deepEqual({ ...found, rows: found.rows.length }, { ...expected, rows: expected.rows.length });
          const difference = ({ bytesA, bytesB }: { bytesA: number; bytesB: number }): number => bytesB - bytesA;
          assert.deepEqual(found.rows.map(difference).sort(), expected.rows.map(difference).sort());
        }
    });

    test('what is not in the file is refused in a sentence', () => {
      const moment = { kind: 'born', fromNs: 1, toNs: 2 };
      for (const more of [{ moment }, { filter: 'age>5steps' }])
        assert.throws(() => answers.answer('sites', { ...ROWS, groupBy: 'line', ...more }), /^Error: .*\.$/);
    });
  });
}

const ROWS = { layer: 'tensor', sort: 'liveBytes', descending: true, from: 0, to: 1000 } as const;
