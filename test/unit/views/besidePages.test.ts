// What stands beside the pages shows what they show: a change waits until they have its figures, though not for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BesidePages } from '../../../extension/views/session/besidePages';

test('a change is passed on at once if no page is late; otherwise all changes are, as one, when the last page has caught up', () => {
  const fired: string[] = [];
  const beside = new BesidePages(change => fired.push(change));
  beside.changed('events');
  assert.deepEqual(fired, ['events']);
  beside.setLate(1, true);
  beside.setLate(2, true);
  for (const change of ['events', 'state', 'events'] as const) beside.changed(change);
  beside.setLate(1, false);
  assert.deepEqual(fired, ['events']);
  beside.setLate(2, false);
  assert.deepEqual(fired, ['events', 'state']);
  beside.setLate(2, false);
  assert.equal(fired.length, 2, 'nothing is new');
});

test('a page that requests nothing any more holds it up for two seconds', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fired: string[] = [];
  const beside = new BesidePages(change => fired.push(change));
  beside.setLate(1, true);
  beside.changed('state');
  t.mock.timers.tick(1_999);
  assert.deepEqual(fired, []);
  t.mock.timers.tick(1);
  beside.changed('events');
  assert.deepEqual(fired, ['state', 'events'], 'it holds up nothing more');
});
