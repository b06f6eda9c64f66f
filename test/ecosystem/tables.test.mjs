// The queries that ship, on a job's folder, in every engine that its tables are for: one text, the same rows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { inRoot, root } from '../project/root.mjs';
import { ask, differences, makeJob, queriesOf, sql } from './jobFolder.mjs';

const python = process.env.GMT_TABLES_PYTHON;
const place = inRoot('build/test/ecosystem/tables');
const java = spawnSync('java', ['-version']).status === 0;
let folder, expected;

before(async () => {
  rmSync(place, { recursive: true, force: true });
  folder = await makeJob(root, place);
  expected = ask(root, python, folder, 'duckdb');
});
after(() => rmSync(place, { recursive: true, force: true }));

test('DuckDB: what each query says of the job', () => {
  const rows = name => expected[name].rows;
  const column = (name, which) => rows(name).map(row => row[expected[name].columns.indexOf(which)]);
  assert.deepEqual(column('trend', 'run'), ['first', 'then-leak']);
  assert.equal(column('trend', 'bytes_per_step')[0], null);
  assert.ok(Math.abs(column('trend', 'bytes_per_step')[1] / 2 ** 18 - 1) < 0.1);
  assert.deepEqual([column('growth_by_rank', 'run')[0], column('growth_by_rank', 'rank')[0]], ['then-leak', 3]);
  assert.deepEqual(new Set(column('growth_by_rank', 'rank')), new Set([0, 1, 2, 3]));
  assert.deepEqual([rows('peak_by_rank').length, column('peak_by_rank', 'rank')[0]], [8, 3]);
  assert.deepEqual(column('compare_runs', 'function')[0], '<module>');
  assert.ok(column('lines_between_ranks', 'function').includes('late'));
  assert.deepEqual(column('fragmentation_by_node', 'ranks'), [4, 4]);
  for (const name of queriesOf(root)) assert.ok(rows(name).length > 0, name);
});

test(
  'DuckDB by gpu-memtrace sql, as CSV',
  { skip: process.env.VIRTUAL_ENV ? 'VIRTUAL_ENV names another Python' : false },
  () => {
    process.env.VIRTUAL_ENV = python.replace(/\/bin\/[^/]+$/, '');
    const [head, ...rows] = sql(root, folder, 'peak_by_rank', '--format', 'csv').trim().split('\n');
    delete process.env.VIRTUAL_ENV;
    assert.equal(head, expected.peak_by_rank.columns.join(','));
    assert.deepEqual(
      rows.map(row => row.split(',').map(value => (value === '' ? null : isNaN(value) ? value : Number(value)))),
      expected.peak_by_rank.rows,
    );
  },
);

for (const [name, engine, words, skip] of [
  ['pyarrow', 'pyarrow', 'duckdb', false],
  ['polars', 'polars', 'duckdb', false],
  ['ClickHouse', 'clickhouse', 'clickhouse', false],
  ['Spark', 'spark', 'spark', java ? false : 'Spark needs java, which is not here'],
])
  test(`${name}: the same rows`, { skip }, () => {
    assert.deepEqual(differences(expected, ask(root, python, folder, engine, words)), []);
  });
