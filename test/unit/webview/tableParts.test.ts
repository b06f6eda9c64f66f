import assert from 'node:assert/strict';
import type { SiteWindow } from '../../../extension/protocol/trace';
import { chosenColumns, DEFAULT_CHOICE, type Choice } from '../../../webview/explorer/common/columns';
import { filterProblem } from '../../../extension/text/filterWords';
import { quietSince } from '../../../webview/explorer/details/freesView';
import { layoutOf } from '../../../webview/explorer/table/tableLayout';
import { filterFor } from '../../../webview/explorer/table/rowMenu';
import { rowAt } from '../../../webview/explorer/common/rows';
import { Selection } from '../../../webview/explorer/table/selection';
import { sumOf } from '../../../webview/explorer/table/selectionBar';
import { INITIAL_TABLE, restoreTable, withColumn } from '../../../webview/explorer/state/tableState';
import { tsvOf } from '../../../webview/explorer/table/tsv';
import { siteWindow } from './siteWindow';
import { sentencesOf } from '../../sentences.mjs';

const { test, assertSentence } = sentencesOf(__filename);

const columns = (choice: readonly Choice[], devices = 2) => chosenColumns(choice, false, devices);
const ids = (choice: readonly Choice[], devices = 2): string[] => columns(choice, devices).map(({ id }) => id);

test('columns keep their order whatever the order of the choice', () => {
  assert.deepEqual(ids(['spark', 'peak', 'live']), ['site', 'live', 'peak', 'spark']);
  assert.deepEqual(ids(['live', 'device', 'verdict'], 1), ['site', 'live'], 'one device needs no column');
  assert.deepEqual(
    chosenColumns(DEFAULT_CHOICE, true, 2).map(({ id }) => id),
    ['site', 'live', 'self', 'count'],
  );
});

test('a wide table has one line a row, with an area a column', () => {
  const { wide, rowPx, template } = layoutOf(columns(['live', 'count', 'thread']), 800);
  assert.deepEqual([wide, rowPx], [true, 24]);
  assert.equal(template, "'site live count thread' 22px / minmax(220px, 3fr) 92px 72px minmax(90px, 1fr)");
});

test('a table without room for names on one line has two lines a row', () => {
  assert.equal(layoutOf(columns(DEFAULT_CHOICE), 650).wide, false);
  assert.equal(layoutOf(columns(['live', 'count']), 650).wide, true);
});

test('a narrow table has the name and the bytes above, the rest below', () => {
  const { wide, rowPx, template } = layoutOf(columns(DEFAULT_CHOICE), 360);
  assert.deepEqual([wide, rowPx], [false, 38]);
  assert.equal(
    template,
    "'site site site live spark' 20px 'thread device count step spark' 16px / minmax(40px, 1fr) 40px 46px 92px 48px",
  );
});

test('a very narrow table drops the line over the run and still fits', () => {
  const { template, leastPx } = layoutOf(columns(DEFAULT_CHOICE), 300);
  assert.ok(!template.includes('spark'));
  assert.ok(leastPx <= 300, `${leastPx}`);
});

test('all areas of a row are as many as its tracks, for every choice and width', () => {
  const all: Choice[] = ['live', 'step', 'count', 'peak', 'allocations', 'growth', 'thread', 'device', 'spark'];
  for (let mask = 0; mask < 1 << all.length; mask++) {
    const shown = columns(all.filter((_, i) => mask & (1 << i)));
    for (const width of [300, 360, 800]) {
      const { template } = layoutOf(shown, width);
      const tracks = template
        .split(' / ')[1]!
        .replace(/\(.*?\)/g, '')
        .split(' ');
      for (const [, areas] of template.matchAll(/'(.*?)'/g)) {
        assert.equal(areas!.split(' ').length, tracks.length, template);
        assert.ok(areas !== '' && !/(\w+)( \w+)* (?!\1)\w+.* \1\b/.test(areas!), `${areas}: an area in two pieces`);
      }
      for (const { id } of shown)
        if (id !== 'spark' || width > 335) assert.ok(template.includes(id), `${id}: ${template}`);
    }
  }
});

test('a range counts from where it began, in both directions; a row that moves stays selected', () => {
  const selection = new Selection();
  selection.one(5, 'five');
  assert.deepEqual(selection.rangeTo(7), { from: 5, to: 8 });
  assert.deepEqual(selection.rangeTo(3), { from: 3, to: 6 });
  selection.toggle(9, 'nine');
  assert.ok(selection.has('five') && selection.has('nine'));
  selection.toggle(9, 'nine');
  assert.ok(!selection.has('nine'));
  selection.one(4, 'four');
  selection.moved(40);
  assert.deepEqual(selection.active, { index: 40, key: 'four' });
  assert.deepEqual(selection.rangeTo(42), { from: 40, to: 43 });
});

test('several rows are summed', () => {
  const rows = [
    { liveBytes: 10, liveCount: 1 },
    { liveBytes: 5, liveCount: 2 },
  ];
  assert.deepEqual(sumOf(rows, 3), { rows: 3, liveBytes: 15, liveCount: 3 });
});

test('rows are copied with a title line, plain figures, and nothing that breaks a line', () => {
  const window: SiteWindow = { ...siteWindow(), file: ['/home/a/bad\tname\n.py'] };
  const text = tsvOf([rowAt(window, 0, 'line', [], 'tensor')], columns(['live', 'count', 'spark']), 'Line');
  assert.equal(text, `Line\tFunction\tAlive\tBlocks\tVerdict\n/home/a/bad name .py:41\tforward\t${20 << 20}\t2\t\n`);
});

test('a filter for a row is words that its row matches', () => {
  const row = rowAt(siteWindow(), 0, 'line', [], 'tensor');
  assert.equal(filterFor(row), 'train.py forward');
  assert.equal(filterFor({ ...row, file: '', primary: 'Thread-1 (worker):9' }), 'Thread-1 (worker):9');
  assert.equal(filterFor({ ...row, function: '<lambda>' }), 'train.py');
});

test('a word that looks like a bound and is none is named', () => {
  for (const good of ['', 'model conv', '>10MB', '<=1.5GiB', '>4096', '>1k', 'age>5steps', 'age<=2 model', 'a>b'])
    assert.equal(
      filterProblem(good, text => text),
      '',
      good,
    );
  for (const bad of ['>', '>10XB', '<MB', 'x >=', 'age>', 'age>5MB', 'age>5weeks', 'age<2min', 'bytes>=1GB'])
    assertSentence(
      filterProblem(bad, text => text),
      bad,
    );
});

test('a line that frees no more is told from one that does', () => {
  assertSentence(quietSince({ lastStep: 3 }, 412));
  assert.equal(quietSince({ lastStep: 411 }, 412), '');
  assert.equal(quietSince({ lastStep: 3 }, 0), '', 'steps are not known');
});

test('the choice of columns outlives the page; what is strange is left out', () => {
  assert.deepEqual(restoreTable(undefined), INITIAL_TABLE);
  assert.deepEqual(restoreTable({ columns: ['spark', 'no', 'live'], tree: true, weight: 'age' }), {
    columns: ['live', 'spark'],
    tree: true,
    weight: 'live',
  });
  assert.deepEqual(withColumn(['live', 'spark'], 'count'), ['live', 'count', 'spark']);
  assert.deepEqual(withColumn(['live', 'spark'], 'live'), ['spark']);
});
