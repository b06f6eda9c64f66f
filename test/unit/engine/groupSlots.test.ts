import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupSlots } from '../../../extension/engine/groupSlots';
import { HUE_COUNT, lineHue } from '../../../extension/protocol/lineHue';

/** Names of lines of which none, by its name, has the colour of another. */
function ownHues(count: number): string[] {
  const found = new Map<number, string>();
  for (let line = 1; found.size < count; line++) {
    const { hue } = lineHue(`/a.py:${line}`, new Map());
    if (!found.has(hue)) found.set(hue, `/a.py:${line}`);
  }
  return [...found.values()];
}
const hueOf = (name: string): number => lineHue(name, new Map()).hue;

/** A line that by its name has the colour of another. */
function rivalOf(name: string): string {
  for (let line = 1; ; line++) if (hueOf(`/b.py:${line}`) === hueOf(name)) return `/b.py:${line}`;
}

test('a line has the colour of its name, at any rank', () => {
  const names = ownHues(HUE_COUNT);
  const slots = new GroupSlots(new Map());
  assert.deepEqual(slots.assign(names), names.map(hueOf));
  assert.deepEqual(slots.assign(names.toReversed()), names.toReversed().map(hueOf));
});

test('of two lines that would have one colour the one that is drawn keeps it, whatever passes it; no two have one', () => {
  const [a, b, c] = ownHues(3) as [string, string, string];
  const rival = rivalOf(a);
  const slots = new GroupSlots(new Map());
  const [mine] = slots.assign([a, b]);
  const both = slots.assign([rival, b, a, c]);
  assert.equal(both[2], mine);
  assert.equal(new Set(both).size, 4);
  assert.equal(slots.assign([rival, b])[0], both[0], 'it keeps its colour, though that of its name is free again');
});

test('the next run has the colours of the run before, in whatever order its lines come', () => {
  const known = new Map<string, number>();
  const [a] = ownHues(1) as [string];
  const rival = rivalOf(a);
  const [first, second] = new GroupSlots(known).assign([a, rival]);
  const next = new GroupSlots(known);
  assert.deepEqual(next.assign([rival]), [second]);
  assert.deepEqual(next.assign([rival, a]), [second, first]);
});

test('groups of one name have a colour each', () => {
  const slots = new GroupSlots(new Map());
  assert.equal(new Set(slots.assign(['several threads', 'several threads'])).size, 2);
  assert.deepEqual(slots.assign([]), []);
});
