import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedLayer, type Layer, type Totals } from '../../../extension/protocol/trace';
import { INITIAL, reduce, restore } from '../../../webview/explorer/state/state';

test('a header clicked again turns the order; text begins ascending, numbers descending', () => {
  const growth = reduce(INITIAL, { type: 'sort', sort: 'growth' });
  assert.deepEqual([growth.sort, growth.descending], ['growth', true]);
  assert.equal(reduce(growth, { type: 'sort', sort: 'growth' }).descending, false);
  assert.equal(reduce(growth, { type: 'sort', sort: 'label' }).descending, false);
});

test('an action that changes nothing gives the same state', () => {
  assert.equal(reduce(INITIAL, { type: 'filter', filter: '' }), INITIAL);
  assert.equal(reduce(INITIAL, { type: 'group', groupBy: 'line' }), INITIAL);
  assert.notEqual(reduce(INITIAL, { type: 'group', groupBy: 'thread' }), INITIAL);
});

test('the legend hides a series and shows it again', () => {
  const hidden = reduce(INITIAL, { type: 'series', series: 'driver' });
  assert.deepEqual(hidden.hidden, ['driver']);
  assert.deepEqual(reduce(hidden, { type: 'series', series: 'driver' }).hidden, []);
});

test('a saved state comes back whole', () => {
  let state = reduce(INITIAL, { type: 'filter', filter: '>10MB' });
  state = reduce(state, { type: 'layer', layer: 'host' });
  state = reduce(state, { type: 'zoom', zoom: { spanNs: 5, endNs: null } });
  state = reduce(state, { type: 'series', series: 'reserved' });
  assert.deepEqual(restore(structuredClone(state)), state);
});

test('a strange saved state becomes the default, field by field', () => {
  for (const saved of [undefined, null, 7, 'x', {}, { version: 2, filter: 'a' }])
    assert.deepEqual(restore(saved), INITIAL);
  const half = {
    ...INITIAL,
    sort: 'evil',
    groupBy: 'thread',
    filter: 3,
    zoom: { spanNs: -1 },
    hidden: ['driver', 'x', 4],
  };
  assert.deepEqual(restore(half), { ...INITIAL, groupBy: 'thread', hidden: ['driver'] });
});

test('the layer is the chosen one, else tensors, else the driver, else pinned memory', () => {
  const shown = (chosen: Layer | null, totals: Totals[]): Layer => chosen ?? listedLayer(totals);
  const total = (layer: Layer, allocations: number): Totals => ({ layer, allocations }) as Totals;
  assert.equal(shown(null, []), 'tensor');
  assert.equal(shown(null, [total('tensor', 0), total('driver', 3)]), 'driver');
  assert.equal(shown(null, [total('driver', 3), total('tensor', 1)]), 'tensor');
  assert.equal(shown('host', [total('tensor', 1)]), 'host');
  assert.equal(shown(null, [total('driver', 0), total('host', 2)]), 'host');
});

test('another trace takes zoom, moment and filter away, and nothing that the user chose for all', () => {
  let state = reduce(INITIAL, { type: 'trace', trace: 5 });
  state = reduce(state, { type: 'filter', filter: 'a' });
  state = reduce(state, { type: 'zoom', zoom: { spanNs: 5, endNs: null } });
  state = reduce(state, { type: 'moment', moment: { kind: 'at', timeNs: 7 }, title: 'then', bytes: 9 });
  state = reduce(state, { type: 'stack', stack: { by: 'thread', rank: 'peak' } });
  state = reduce(state, { type: 'axis', axis: 'time' });
  assert.deepEqual(restore(structuredClone(state)), state);
  assert.equal(reduce(state, { type: 'trace', trace: 5 }), state);
  assert.deepEqual(reduce(state, { type: 'trace', trace: 6 }), {
    ...INITIAL,
    trace: 6,
    stack: { by: 'thread', rank: 'peak' },
    axis: 'time',
  });
  assert.deepEqual(restore({ ...state, moment: { kind: 'at', timeNs: -1 } }).moment, INITIAL.moment);
  assert.deepEqual(restore({ ...state, stack: { by: 'x' } }).stack, INITIAL.stack);
});
