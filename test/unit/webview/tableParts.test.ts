import assert from 'node:assert/strict';
import type { SiteWindow } from '../../../extension/protocol/trace';
import {
  chosenColumns,
  DEFAULT_CHOICE,
  LONGEST_STEP,
  stepText,
  type Choice,
} from '../../../webview/explorer/common/columns';
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

const SEVERAL = { devices: 2, threads: 2, stepPx: 70 };
const columns = (choice: readonly Choice[], several = SEVERAL) => chosenColumns(choice, false, several);
const ids = (choice: readonly Choice[], several = SEVERAL): string[] => columns(choice, several).map(({ id }) => id);
const shown = (choice: readonly Choice[], width: number, fits = true): string[] =>
  layoutOf(columns(choice), width, fits).columns.map(({ id }) => id);

test('columns keep their order whatever the order of the choice', () => {
  assert.deepEqual(ids(['spark', 'peak', 'live']), ['site', 'live', 'peak', 'spark']);
  assert.deepEqual(
    chosenColumns(DEFAULT_CHOICE, true, SEVERAL).map(({ id }) => id),
    ['site', 'live', 'self', 'count'],
  );
});

test('a column that says the same in each row is not there', () => {
  const choice = ['live', 'step', 'thread', 'device', 'verdict'] as const;
  assert.deepEqual(ids(choice), ['site', 'live', 'step', 'thread', 'device']);
  assert.deepEqual(ids(choice, { devices: 1, threads: 1, stepPx: 0 }), ['site', 'live']);
});

test('a row is one line, with an area a column', () => {
  const { wide, template } = layoutOf(columns(['live', 'count', 'thread']), 800, true);
  assert.equal(wide, true);
  assert.equal(template, "'site live count thread' 22px / minmax(220px, 3fr) 92px 72px minmax(104px, 1fr)");
});

test('the narrower the table, the more columns give way; the line, its bytes and their growth stay', () => {
  assert.deepEqual(shown(DEFAULT_CHOICE, 1000), ['site', 'live', 'step', 'count', 'thread', 'device', 'spark']);
  assert.deepEqual(shown(DEFAULT_CHOICE, 460), ['site', 'live', 'step', 'count', 'device', 'spark']);
  assert.deepEqual(shown(DEFAULT_CHOICE, 360), ['site', 'live', 'step', 'spark']);
  assert.deepEqual(shown(DEFAULT_CHOICE, 300), ['site', 'live', 'step']);
  assert.deepEqual(shown(DEFAULT_CHOICE, 268), ['site', 'live', 'step'], 'the narrowest side panel of a small window');
  assert.ok(layoutOf(columns(DEFAULT_CHOICE), 300, true).leastPx <= 300);
});

test('growth per step gives way only where not even the numbers of lines would be left', () => {
  const narrow = (width: number, numbers: boolean, stepPx = 76): string[] =>
    layoutOf(columns(DEFAULT_CHOICE, { ...SEVERAL, stepPx }), width, true, numbers).columns.map(({ id }) => id);
  assert.deepEqual(narrow(252, false), ['site', 'live', 'step']);
  assert.deepEqual(narrow(240, false), ['site', 'live']);
  assert.deepEqual(narrow(240, true), ['site', 'live', 'step'], 'the file is in the header');
});

test('below 320 px, growth per step has its column once a row grew; no other column moves', () => {
  const shown = (width: number, idle: boolean): string[] =>
    layoutOf(columns(DEFAULT_CHOICE), width, true, true, idle).columns.map(({ id }) => id);
  for (const width of [260, 300, 319])
    assert.deepEqual(
      shown(width, true),
      shown(width, false).filter(id => id !== 'step'),
    );
  assert.deepEqual(shown(320, true), shown(320, false));
});

test('growth per step has the room that its longest figure needs', () => {
  const narrow = (stepPx: number): string =>
    layoutOf(columns(['live', 'step'], { ...SEVERAL, stepPx }), 280, true).template;
  for (const px of [60, 80]) assert.ok(narrow(px).endsWith(` ${px + 4}px`), narrow(px));
  const texts = [1, 1023, 2048, 99.99 * 1024, 100 * 1024 ** 2, 1023.4 * 1024 ** 3].map(bytes => stepText(bytes));
  assert.ok(
    texts.every(text => text.length <= LONGEST_STEP.length),
    texts.join(),
  );
});

test('columns that the user chose scroll sideways in a wide table; in a narrow one those without room are left out whole', () => {
  const all: Choice[] = ['live', 'step', 'count', 'peak', 'allocations', 'growth', 'thread', 'device', 'spark'];
  assert.equal(shown(all, 620, false).length, all.length + 1);
  assert.deepEqual(shown([...DEFAULT_CHOICE, 'allocated'], 300, false), ['site', 'live', 'allocated']);
  assert.deepEqual(layoutOf(columns([...DEFAULT_CHOICE, 'growth']), 300, false).left, [
    'step',
    'count',
    'thread',
    'device',
    'spark',
  ]);
  for (let mask = 0; mask < 1 << all.length; mask++) {
    const some = columns(all.filter((_, i) => mask & (1 << i)));
    for (const [width, fits] of [300, 360, 800].flatMap(px => [[px, true] as const, [px, false] as const])) {
      const { template, leastPx } = layoutOf(some, width, fits);
      const tracks = template
        .split(' / ')[1]!
        .replace(/\(.*?\)/g, '')
        .split(' ');
      assert.equal(/'(.*?)'/.exec(template)![1]!.split(' ').length, tracks.length, template);
      assert.ok(leastPx <= width || (width === 800 && !fits), template);
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
  assert.equal(text, `Line\tFunction\tLive\tBlocks\tVerdict\n/home/a/bad name .py:41\tforward\t${20 << 20}\t2\t\n`);
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
