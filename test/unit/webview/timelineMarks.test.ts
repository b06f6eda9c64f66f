import assert from 'node:assert/strict';
import type { StackedTimeline } from '../../../extension/protocol/requests/timelineRequests';
import { gapsOf, gapWords, labelRows, marksOf, placeMarks } from '../../../webview/explorer/timeline/timelineMarks';
import {
  groupAt,
  groupBytesText,
  isOver,
  groupName,
  stackEdges,
  withoutFile,
} from '../../../webview/explorer/timeline/timelineStack';
import { makeInfo, makeProcess } from '../fakeTrace';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const window = { fromNs: 0, toNs: 1000 };

test('marks of a kind that touch are one, labels that would overlap go lower or away', () => {
  const none = { axis: null, lost: new Float64Array(), searches: new Float64Array() };
  const steps = { ...none, collections: Float64Array.of(100, 104, 500, 2000) };
  const named = ['before eval', 'after eval', 'then'].map((name, i) => ({ name, timeNs: 300 + i * 20 }));
  const marks = marksOf(makeInfo({}), steps, named, { timeNs: 310, bytes: 1024, when: 'step 4', inView: false });
  const placed = placeMarks(marks, window, 1000);
  const collections = placed.filter(({ mark }) => mark.kind === 'collection');
  assert.deepEqual(
    collections.map(({ x }) => x),
    [100, 500],
  );
  assertSentence(collections[0]!.mark.title);
  const peak = placed.find(({ mark }) => mark.kind === 'peak')!;
  assert.deepEqual([peak.labelled, peak.left, peak.lower, peak.mark.label], [true, false, false, 'peak 1 KiB']);
  const [first, second, third] = placed.filter(({ mark }) => mark.kind === 'named');
  assert.deepEqual([first?.labelled, first?.left], [true, true]);
  assert.equal(second?.lower, true);
  assert.equal(labelRows(placed), 2);
  assert.equal(
    labelRows(
      placeMarks(
        marks.filter(({ kind }) => kind === 'collection'),
        window,
        60,
      ),
    ),
    1,
    'no row for these',
  );
  const early = marks.map(mark => ({ ...mark, timeNs: 3 }));
  const lower = (zoomed: boolean) => placeMarks(early, window, 1000, zoomed).find(one => one.labelled)?.lower;
  assert.deepEqual([lower(false), lower(true)], [false, true], 'the way back to the whole run has its place');
  assert.ok(third, 'a mark without room for its label stays');
  assert.deepEqual(
    placed.map(({ x }) => x),
    [...placed.map(({ x }) => x)].sort((a, b) => a - b),
  );
});

test('a peak that is only that of the visible range says so', () => {
  for (const inView of [true, false]) {
    const [mark] = marksOf(makeInfo({}), null, [], { timeNs: 310, bytes: 1024, when: 'step 4', inView });
    assertSentence(mark!.label);
    assertSentence(mark!.title);
  }
});

test('gaps: pauses, the driver unseen, lost events, before the attach', () => {
  const info = makeInfo({
    startRealtimeMs: 1000,
    session: { attached: { pid: 1, realtimeMs: 1002 } },
    pauses: [
      { process: 0, kind: 'recording', beginNs: 10, endNs: 20 },
      { process: 0, kind: 'driver', beginNs: 30, endNs: null },
    ],
  });
  const steps = {
    ...{ axis: null, collections: new Float64Array() },
    lost: Float64Array.of(40, 50, 60, 70),
    searches: Float64Array.of(20, 25),
  };
  assert.deepEqual(
    gapsOf(info, steps, 99).map(({ kind, fromNs, toNs }) => [kind, fromNs, toNs]),
    [
      ['paused', 10, 20],
      ['driver', 30, 99],
      ['lost', 40, 50],
      ['lost', 60, 70],
      ['search', 20, 25],
      ['before-attach', 0, 2e6],
    ],
  );
  assertSentence(gapWords({ kind: 'search', fromNs: 1e9, toNs: 1.1065e9 }).title);
  assert.deepEqual(gapsOf(makeInfo({ session: { attached: 'x' } }), null, 9), []);
});

const stack: StackedTimeline = {
  fromNs: 0,
  toNs: Float64Array.of(100, 200, 400),
  unfinished: 1,
  groups: [],
  heldBytes: Float64Array.of(1, 2, 3, 10, 20, 30),
  mostBytes: Float64Array.of(1, 5, 3, 10, 20, 30),
};
stack.groups = ['/x/a.py', '/x/b.py'].map(file => ({
  file,
  line: 4,
  function: 'f',
  source: 'python',
  category: 'unnamed',
  process: 0,
  thread: 0,
}));

test('the edges of groups lie on each other, two points an interval', () => {
  const [low, high] = stackEdges(stack, { fromNs: 50, toNs: 500 }, 450, [{ x: 0, y: 1000 }]);
  assert.deepEqual(
    low!.map(({ x, y }) => [x, y]),
    [
      [50, 1],
      [100, 1],
      [100, 2],
      [200, 2],
      [200, 3],
      [500, 3],
    ],
  );
  assert.deepEqual(
    high!.map(({ y }) => y),
    [11, 11, 22, 22, 33, 33],
  );
});

test('in an interval that is not over they are where they are not over what is alive; narrow intervals become the least', () => {
  const alive = [
    { x: 0, y: 5 },
    { x: 150, y: 40 },
    { x: 300, y: 40 },
    { x: 310, y: 25 },
  ];
  const [low, high] = stackEdges(stack, { fromNs: 0, toNs: 400 }, 4, alive);
  assert.deepEqual(
    high!.slice(4).map(({ x, y }) => [x, y]),
    [
      [200, 33],
      [300, 33],
      [300, 0],
      [400, 0],
    ],
    'freed as the program ended',
  );
  assert.deepEqual(
    low!.map(({ y }) => y),
    [1, 1, 2, 2, 3, 3, 0, 0],
  );
  const unfinished = stackEdges({ ...stack, unfinished: 2 }, { fromNs: 0, toNs: 400 }, 4, alive);
  assert.deepEqual(
    unfinished[1]!.map(({ y }) => y),
    [11, 11, 22, 22, 33, 33, 0, 0],
    'what is less for a while is no stripe',
  );
  const dip = [0, 210, 240, 260].map((x, i) => ({ x, y: [40, 30, 30, 40][i]! }));
  assert.deepEqual(
    stackEdges(stack, { fromNs: 0, toNs: 400 }, 400, dip)[1]!
      .map(({ x, y }) => [x, y])
      .slice(4),
    [
      [200, 33],
      [210, 33],
      [210, 30],
      [240, 30],
      [240, 33],
      [400, 33],
    ],
    'never more than is alive',
  );
  const [coarse] = stackEdges(stack, { fromNs: 0, toNs: 400 }, 2, [{ x: 0, y: 1000 }]);
  assert.deepEqual(
    coarse!.map(({ x, y }) => [x, y]),
    [
      [0, 1],
      [200, 1],
      [200, 3],
      [400, 3],
    ],
  );
});

test('what a group had at a time, and its name', () => {
  assert.deepEqual(groupAt(stack, 0, 150), { held: 2, most: 5 });
  assert.deepEqual(groupAt(stack, 1, 9e9), { held: 30, most: 30 });
  const held = stack.groups.map((_, group) => groupAt(stack, group, 9e9).held).reduce((sum, bytes) => sum + bytes);
  assert.deepEqual(
    [isOver(stack, 9e9, held), isOver(stack, 9e9, held - 1)],
    [false, true],
    'freed as the program ended',
  );
  assert.deepEqual(groupBytesText({ held: 1024, most: 1024 }, 9999), '1 KiB');
  assert.deepEqual(groupBytesText({ held: 1024, most: 4096 }, 9999), '1–4 KiB');
  assert.deepEqual(groupBytesText({ held: 1024, most: 4096 }, 2048), '1–3 KiB', 'allocated');
  assert.equal(groupBytesText({ held: 150_000, most: 4096 ** 2 }, 4096 ** 2, true), '≥146.5 KiB', 'in a narrow panel');
  const shortOf = (...names: string[]): string[] => withoutFile(names.map(name => ({ name })));
  assert.deepEqual(shortOf('a.py:1', 'a.py:22', 'no Python line'), [':1', ':22', 'no Python line']);
  assert.deepEqual(shortOf('a.py:1', 'b.py:22'), ['a.py:1', 'b.py:22']);
  assert.equal(groupBytesText({ held: 0, most: 4096 }, 2048), null, 'its bytes are those of the rest');
  assert.equal(groupBytesText({ held: 0, most: 4096 }, 2048, false, true), '≤2 KiB', 'at the peak each is named');
  assert.deepEqual(groupBytesText({ held: 0, most: 4096 }, 0), '0 B', 'there is no rest');
  assert.equal(groupBytesText({ held: 1000, most: 4096 }, 9999), '1000 B–4 KiB');
  const [group] = stack.groups;
  assert.deepEqual(groupName(group!, 'line', []), { name: 'a.py:4', more: 'f', title: '/x/a.py:4' });
  assert.equal(groupName({ ...group!, line: 0, source: 'before-attach' }, 'line', []).name, 'pre-existing');
  assert.equal(groupName(group!, 'thread', [makeProcess({})]).name, 'main thread');
  assert.equal(groupName({ ...group!, thread: -1 }, 'thread', []).name, 'several threads');
  assert.equal(groupName({ ...group!, category: 'optimizer' }, 'category', []).name, 'optimizer state');
});
