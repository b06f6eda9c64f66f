import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionList } from '../../../extension/views/session/sessionList';

interface Item {
  id: number;
  title: string;
  running: boolean;
  empty: boolean;
}
const item = (id: number, running = true, empty = false): Item => ({
  ...{ id, running, empty },
  title: 'a.py',
});
const ids = (items: readonly Item[]): number[] => items.map(({ id }) => id);

test('the newest session is shown, and another one by its number', () => {
  const list = new SessionList<Item>();
  assert.equal(list.shown?.id, undefined);
  list.add(item(1));
  list.add(item(2));
  assert.equal(list.shown?.id, 2);
  assert.equal(list.show(1), true);
  assert.equal(list.shown?.id, 1);
  assert.equal(list.show(1), false, 'it is shown already');
  assert.equal(list.show(7), false);
  assert.equal(list.shown?.id, 1);
});

test('in the place of a session that is taken out its neighbour is shown', () => {
  const list = new SessionList<Item>();
  const [a, b, c] = [item(1), item(2), item(3)];
  for (const one of [a, b, c]) list.add(one);
  list.show(2);
  assert.equal(list.remove(b), true);
  assert.equal(list.shown?.id, 3);
  list.remove(c);
  assert.equal(list.shown?.id, 1);
  assert.equal(list.remove(c), false);
  list.remove(a);
  assert.equal(list.shown?.id, undefined);
});

test('a session that is not shown goes without another one being shown', () => {
  const list = new SessionList<Item>();
  const a = item(1);
  list.add(a);
  list.add(item(2));
  list.remove(a);
  assert.equal(list.shown?.id, 2);
});

test('empty ones go with the next, and of many that ended the oldest; what runs stays', () => {
  const list = new SessionList<Item>();
  list.add(item(1));
  list.add(item(2, false, true));
  assert.deepEqual(ids(list.add(item(3, false))), [2]);
  for (let id = 4; id <= 6; id++) assert.deepEqual(list.add(item(id, false)), []);
  assert.deepEqual(list.add(item(7)), []);
  assert.deepEqual(ids(list.add(item(8, false))), [3]);
  assert.deepEqual(ids(list.all), [1, 4, 5, 6, 7, 8]);
});

test('a run that recorded nothing takes no other’s place', () => {
  const list = new SessionList<Item>();
  for (let id = 1; id <= 4; id++) list.add(item(id, false));
  assert.deepEqual(list.add(item(5, false, true)), []);
  const run = item(6);
  assert.deepEqual(ids(list.add(run)), [5]);
  run.running = false;
  assert.deepEqual(ids(list.trim()), [1]);
  assert.deepEqual(ids(list.all), [2, 3, 4, 6]);
});

test('what is unread stays and takes no other’s place, nor does the newest go', () => {
  const list = new SessionList<Item>(({ id }) => id <= 4);
  for (let id = 1; id <= 8; id++) assert.deepEqual(list.add(item(id, false)), []);
  list.show(5);
  assert.deepEqual(ids(list.add(item(9, false), false)), [6]);
  assert.deepEqual(ids(list.all), [1, 2, 3, 4, 5, 7, 8, 9], 'more than usual');
});

test('what a run is compared with stays beside it, and goes with it', () => {
  const before = ({ id }: Item, all: readonly Item[]): Item | null =>
    all.find(other => id % 10 === other.id % 10 && other.id === id - 10) ?? null;
  const list = new SessionList<Item>(({ id }) => id >= 51, before);
  for (const id of [1, 51, 52, 53, 54, 11]) assert.deepEqual(list.add(item(id, false)), [], 'the comparison is shown');
  list.add(item(2, false));
  for (const id of [3, 4]) list.add(item(id, false));
  assert.deepEqual(ids(list.all), [1, 51, 52, 53, 54, 11, 2, 3, 4], 'another one is shown, and it may come back');
  assert.deepEqual(ids(list.add(item(5, false))), [11, 1]);
});

test('of many runs of a program the latest is compared, or the one that is shown', () => {
  const before = ({ id }: Item, all: readonly Item[]): Item | null => all.find(other => other.id === id - 1) ?? null;
  const list = new SessionList<Item>(undefined, before);
  for (let id = 1; id <= 5; id++) list.add(item(id, false));
  assert.deepEqual(ids(list.add(item(6, false))), [1]);
  list.show(3);
  assert.deepEqual(ids(list.add(item(7, false), false)), []);
  assert.deepEqual(ids(list.add(item(8, false), false)), [4], '2 is beside the shown one, 7 beside the newest');
});

test('equal titles get a number, which stays when earlier ones go', () => {
  const list = new SessionList<Item>();
  const titles = (): string[] => list.all.map(one => list.titleOf(one));
  const [first, failed] = [item(1), item(4, false, true)];
  for (const one of [first, { ...item(2), title: 'b.py' }, item(3), failed]) list.add(one);
  assert.deepEqual(titles(), ['a.py', 'b.py', 'a.py (2)', 'a.py (3)']);
  list.remove(first);
  list.add(item(5));
  assert.deepEqual(titles(), ['b.py', 'a.py (2)', 'a.py (3)'], 'what recorded nothing is no run');
  for (let id = 6; id <= 10; id++) list.add(item(id, false));
  assert.deepEqual(
    list.all.map(one => list.runOf(one)),
    [1, 2, 3, 5, 6, 7, 8],
    'the oldest of many went',
  );
});
