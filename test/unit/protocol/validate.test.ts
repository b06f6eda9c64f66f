import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SiteQuery, TimelineQuery } from '../../../extension/protocol/trace';
import { checkMessage, METHODS } from '../../../extension/protocol/requests/validate';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const query: SiteQuery = {
  layer: 'tensor',
  groupBy: 'line',
  sort: 'liveBytes',
  descending: true,
  filter: 'train >10MB',
  process: -1,
  device: 0,
  includeDead: false,
  from: 0,
  to: 50,
};
const series: TimelineQuery = { series: 'tensor', fromNs: 0, toNs: 1e9, buckets: 300, process: -1, device: 0 };
const request = (method: string, params?: unknown, id: unknown = 1): unknown => ({
  type: 'request',
  id,
  method,
  params,
});

test('each message of the page passes unchanged', () => {
  const messages = [
    { type: 'ready' },
    request('sites', query),
    request('sites', { ...query, moment: { kind: 'now' } }),
    request('site', { id: 7 }),
    request('site', { id: 7, moment: { kind: 'at', timeNs: 5 } }),
    request('sites', { ...query, moment: { kind: 'born', fromNs: 1, toNs: 2 } }),
    request('sites', { ...query, moment: { kind: 'born', fromNs: 1, toNs: 2, atNs: 3 } }),
    request('timeline', { series: [series] }),
    request('stackTree', { layer: 'tensor', weight: 'peak', minShare: 0.01, open: [3, 0], filter: 'conv', device: -1 }),
    request('stackedTimeline', { layer: 'tensor', by: 'line', rank: 'peak', top: 6, process: -1, device: 1 }),
    request('timelineSteps', { points: 1024 }),
    request('peakInside', { series: 'tensor', fromNs: 1, toNs: 5, process: 2 }),
    request('exactPeak', { series: 'driver', fromNs: 1, toNs: 1, bytes: 64 }),
    request('readMoment', { moment: { kind: 'at', timeNs: 9 } }),
    request('cancelMoments'),
    request('openLine', { file: '/x/train.py', line: 41 }),
    request('openLine', { file: '/x/train.py', line: 41, preserveFocus: true }),
    request('setRoom', { percent: 50 }),
    request('openRecent', { file: '/x/run.gputrace' }),
    request('setRecording', { on: false }),
    request('start'),
    request('stop'),
    request('save'),
    request('findings'),
    request('builtUp'),
    request('verdicts', { sites: [1, 7], groupBy: 'line' }),
    ...['otherLines', 'findHolders', 'applyFix', 'stopHolderSearch'].map(name => request(name, { finding: 'leak 0' })),
  ];
  for (const message of messages) assert.deepEqual(checkMessage(message), { ok: true, message });
});

test('what is wrong is named, with the id to answer to', () => {
  const cases: [unknown, string][] = [
    [request('sites', { ...query, layer: 'heap' }), 'layer'],
    [request('sites', { ...query, to: 1e9 }), 'window'],
    [request('sites', { ...query, from: 60 }), 'window'],
    [request('sites', { ...query, from: -1 }), 'from'],
    [request('sites', { ...query, filter: 'x'.repeat(5000) }), 'filter'],
    [request('sites', null), 'parameters of sites'],
    [request('verdicts', { sites: [1, -1], groupBy: 'line' }), 'site'],
    [request('verdicts', { sites: [1], groupBy: 'thread' }), 'groupBy'],
    [request('findHolders', { finding: 7 }), 'finding'],
    [request('site', { id: 1.5 }), 'id'],
    [request('sites', { ...query, moment: 5 }), 'moment'],
    [request('stackedTimeline', { layer: 'tensor', by: 'colour', rank: 'peak', top: 6 }), 'by'],
    [request('stackedTimeline', { layer: 'tensor', by: 'line', rank: 'peak', top: 99 }), 'top'],
    [request('timelineSteps', { points: 1e6 }), 'points'],
    [request('peakInside', { series: 'tensor', fromNs: 5, toNs: 1 }), 'begin'],
    [request('readMoment', {}), 'moment'],
    [request('sites', { ...query, moment: { kind: 'then' } }), 'kind'],
    [request('site', { id: 1, moment: { kind: 'at', timeNs: -1 } }), 'timeNs'],
    [request('site', { id: 1, moment: { kind: 'born', fromNs: 3, toNs: 2 } }), 'begin'],
    [request('timeline', { series: Array.from({ length: 17 }, () => series) }), 'series'],
    [request('timeline', { series: [{ ...series, toNs: NaN }] }), 'toNs'],
    [request('timeline', { series: [{ ...series, buckets: 0 }] }), 'buckets'],
    [request('stackTree', { layer: 'tensor', weight: 'age', minShare: 0 }), 'weight'],
    [request('stackTree', { layer: 'tensor', weight: 'live', minShare: 2 }), 'minShare'],
    [request('stackTree', { layer: 'tensor', weight: 'live', minShare: 0, open: ['x'] }), 'node'],
    [request('openLine', { file: 3, line: 1 }), 'file'],
    [request('setRecording', { on: 'yes' }), 'on'],
    [request('eval', {}), 'request'],
    [request('constructor', {}), 'request'],
    [request('__proto__', {}), 'request'],
  ];
  for (const [message, named] of cases) {
    const checked = checkMessage(message);
    assert.ok(!checked.ok && checked.error.includes(named), JSON.stringify(message));
    assert.equal(checked.id, 1);
    assertSentence(checked.error);
  }
});

test('a request without an id cannot be answered', () => {
  for (const id of [undefined, -1, 1.5, '1', null]) {
    const checked = checkMessage(request('stop', undefined, id === undefined ? {} : id));
    assert.ok(!checked.ok);
    assert.equal(checked.id, null);
  }
});

test('nothing that a page may send makes it throw, and what passes has only known fields', () => {
  const methods = fc.constantFrom(...METHODS);
  const anything = fc.oneof(
    fc.anything(),
    fc.record({ type: fc.constant('request'), id: fc.nat(), method: methods, params: fc.anything() }),
    fc.record({
      type: fc.constant('request'),
      id: fc.nat(),
      method: fc.constant('sites'),
      params: fc.object().map(extra => ({ ...extra, ...query })),
    }),
  );
  fc.assert(
    fc.property(anything, value => {
      const checked = checkMessage(value);
      if (!checked.ok || checked.message.type === 'ready' || checked.message.method !== 'sites') return;
      const known = Object.keys(query);
      assert.ok(Object.keys(checked.message.params).every(name => known.includes(name)));
    }),
  );
});

/** Names and values that requests use, put together at random: deeper than what is refused at first sight. */
const plausible = fc.oneof(
  fc.constantFrom(
    'tensor',
    'driver',
    'line',
    'site',
    'live',
    'peak',
    'alive',
    'liveBytes',
    'address',
    '0x7f00',
    'collect',
  ),
  fc.constantFrom(-1, 0, 1, 16, 64, 1e9, NaN, Infinity, 1.5, true, false, null, undefined),
  fc.constantFrom({ kind: 'now' }, { kind: 'at', timeNs: 5 }, { kind: 'born', fromNs: 1, toNs: 2 }),
  fc.constantFrom({ trace: 1, timeNs: null }, { trace: -1, timeNs: 7 }, [series], [1, 2], [], query, series),
  fc.anything(),
);
const NAMES =
  'layer groupBy sort descending filter process device includeDead from to moment id site sites series fromNs toNs timeNs ' +
  'buckets weight minShare open by rank top points bytes file line on finding text address key a b rows category ages names';
const someParams = fc.oneof(
  fc.anything(),
  fc.dictionary(fc.constantFrom(...NAMES.split(' ')), plausible, { maxKeys: 40 }),
  fc.dictionary(fc.constantFrom(...NAMES.split(' ')), plausible, { maxKeys: 4 }).map(some => ({ ...query, ...some })),
);

for (const method of METHODS)
  test(`${method}: any parameters pass or are refused with a reason, to the id that asked`, () => {
    fc.assert(
      fc.property(someParams, params => {
        const checked = checkMessage(request(method, params, 7));
        if (!checked.ok) {
          assert.equal(checked.id, 7);
          assert.notEqual(checked.error, '');
        } else assert.deepEqual(checkMessage(checked.message), checked, 'what passed passes again unchanged');
      }),
    );
  });

test('every request is checked, and one that asks for nothing drops what came with it', () => {
  assert.ok(METHODS.length > 30, METHODS.join(' '));
  for (const method of METHODS) {
    const checked = checkMessage(request(method, { surprise: 1 }));
    if (checked.ok) assert.ok(!JSON.stringify(checked.message).includes('surprise'), method);
  }
});
