import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StackTree } from '../../../extension/protocol/requests/treeRequests';
import { TreeRows, treeSort } from '../../../webview/explorer/table/treeRows';

const DOWN = { sort: 'liveBytes', descending: true } as const;

/** main (9) calls step (6, calls a and b) and save (3); worker (7). Ids are 10 more than the place. */
const tree: StackTree = {
  revision: 1,
  nodes: 6,
  totalBytes: 16,
  totalCount: 6,
  id: Uint32Array.of(10, 11, 12, 13, 14, 15),
  parent: Int32Array.of(-1, 0, 1, 1, 0, -1),
  frame: Uint32Array.of(0, 1, 2, 3, 4, 5),
  selfBytes: Float64Array.of(0, 0, 2, 4, 3, 7),
  sumBytes: Float64Array.of(9, 6, 2, 4, 3, 7),
  liveCount: Float64Array.of(3, 2, 1, 1, 1, 9),
  children: Uint32Array.of(2, 2, 0, 0, 0, 0),
  site: Uint32Array.of(3, 3, 2, 3, 4, 5),
  frames: ['main', 'step', 'a', 'b', 'save', 'worker'].map((name, i) => ({
    file: '/p/m.py',
    line: i + 1,
    function: name,
  })),
};
const shown = (rows: TreeRows): string[] =>
  Array.from({ length: rows.total }, (_, i) => {
    const row = rows.row(i)!;
    return `${'  '.repeat(row.tree!.level - 1)}${row.primary}${row.tree!.expanded === null ? '' : row.tree!.expanded ? ' -' : ' +'}`;
  });

test('only the outermost frames are shown first; what is opened shows what it calls, heaviest first', () => {
  const rows = new TreeRows();
  rows.set(tree, DOWN);
  assert.deepEqual(shown(rows), ['main +', 'worker']);
  rows.expand('10', true);
  assert.deepEqual(shown(rows), ['main -', '  step +', '  save', 'worker']);
  rows.expand('11', true);
  assert.deepEqual(shown(rows), ['main -', '  step -', '    b', '    a', '  save', 'worker']);
  assert.deepEqual(rows.open.toSorted(), [10, 11]);
  rows.expand('10', false);
  assert.deepEqual(shown(rows), ['main +', 'worker']);
});

test('a module that is a bare number is no count, and its path is not there twice', () => {
  const rows = new TreeRows();
  rows.set({ ...tree, frames: tree.frames.map(() => ({ file: '1', line: 0, function: '1' })) }, DOWN);
  const { primary, secondary } = rows.row(0)!;
  assert.deepEqual([primary, secondary], ['module [1]', '']);
});

test('siblings are sorted, the tree stays', () => {
  const rows = new TreeRows();
  rows.set(tree, DOWN);
  rows.expand('10', true);
  rows.setOrder({ sort: 'label', descending: false });
  assert.deepEqual(shown(rows), ['main -', '  save', '  step +', 'worker']);
  rows.setOrder({ sort: 'liveCount', descending: true });
  assert.deepEqual(shown(rows), ['worker', 'main -', '  step +', '  save']);
  assert.equal(treeSort('growth'), 'liveBytes');
});

test('a row knows its caller, its own bytes and the site to show', () => {
  const rows = new TreeRows();
  rows.set(tree, DOWN);
  rows.expand('10', true);
  rows.expand('11', true);
  assert.equal(rows.parentOf(rows.indexOf('13')), rows.indexOf('11'));
  assert.equal(rows.parentOf(0), -1);
  const row = rows.row(rows.indexOf('13'))!;
  assert.deepEqual([row.id, row.liveBytes, row.tree!.selfBytes, row.title], [3, 4, 4, '/p/m.py:4']);
});

test('a sum counts what lies in another selected row once', () => {
  const rows = new TreeRows();
  rows.set(tree, DOWN);
  rows.expand('10', true);
  rows.expand('11', true);
  const names = rows.outermost(new Set(['10', '13', '15'])).map(({ primary }) => primary);
  assert.deepEqual(names, ['main', 'worker']);
  assert.deepEqual(
    rows.outermost(new Set(['13', '14'])).map(({ primary }) => primary),
    ['b', 'save'],
  );
});
