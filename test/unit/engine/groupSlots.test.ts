import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupSlots } from '../../../extension/engine/groupSlots';

test('a group keeps its colour while it is shown, whatever passes it; what comes takes a free one', () => {
  const slots = new GroupSlots();
  assert.deepEqual(slots.assign(['a', 'b', 'c']), [0, 1, 2]);
  assert.deepEqual(slots.assign(['c', 'a', 'b']), [2, 0, 1]);
  assert.deepEqual(slots.assign(['d', 'c', 'b']), [0, 2, 1]);
  assert.deepEqual(slots.assign(['a', 'c', 'd', 'b', 'e']), [3, 2, 0, 1, 4]);
});

test('groups of one name have a colour each; what was not shown meanwhile begins anew', () => {
  const slots = new GroupSlots();
  assert.deepEqual(slots.assign(['several threads', 'several threads']), [0, 1]);
  assert.deepEqual(slots.assign([]), []);
  assert.deepEqual(slots.assign(['x', 'several threads']), [0, 1]);
});
