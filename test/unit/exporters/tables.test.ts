// A job's tables: what they are documented to be, and what DuckDB and pyarrow read. All engines: test/ecosystem/tables.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type ColumnType, FORMAT_VERSION, TABLES } from '../../../extension/exporters/parquet/tables';
import { ask, differences, makeJob, queriesOf } from '../../ecosystem/jobFolder.mjs';
import { pythonWith } from './python';

const root = resolve(__dirname, '../../../..');
/** As pyarrow names them. */
const TYPES: Record<ColumnType, string> = {
  INT32: 'int32',
  INT64: 'int64',
  DOUBLE: 'double',
  STRING: 'string',
  BOOLEAN: 'bool',
  TIMESTAMP: 'timestamp[ms, tz=UTC]',
};

test('each column of each table is documented, and nothing else is', () => {
  const page = readFileSync(join(root, 'docs/tables.md'), 'utf8');
  assert.ok(page.includes(`format version ${FORMAT_VERSION}`));
  const [, common = '', ...parts] = page.split(/^## /m);
  const named = (text: string): string[] =>
    [...text.matchAll(/^- (`\w+`(?:, `\w+`)*):/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/\w+/g)].map(String));
  const told = new Map(parts.map(part => [/^`(\w+)`/.exec(part)?.[1], named(part)]));
  assert.deepEqual(
    [...told.keys()].filter(name => name !== undefined),
    Object.keys(TABLES),
  );
  for (const [table, columns] of Object.entries(TABLES)) {
    const who = table === 'runs' ? [] : named(common);
    assert.deepEqual([...who, ...(told.get(table) ?? [])].sort(), Object.keys(columns).sort(), table);
  }
});

const python = pythonWith('pyarrow', 'duckdb');
const skip = python === null ? 'no Python here has pyarrow and duckdb' : false;
test(
  'pyarrow reads every table as it is declared, and answers the queries that ship as DuckDB does',
  { skip },
  async t => {
    const folder = await makeJob(root, temporary(t));
    const read = ask(root, python ?? '', folder, 'schemas');
    for (const [name, columns] of Object.entries(TABLES)) {
      const types = Object.fromEntries(Object.entries(columns).map(([column, type]) => [column, TYPES[type]]));
      assert.deepEqual(read[name]?.types, types, name);
      assert.equal(read[name].files, 8, name);
    }
    assert.deepEqual([read.runs?.rows, read.ranks?.rows, read.findings?.rows], [8, 8, 1]);
    const answers = ask(root, python ?? '', folder, 'duckdb');
    assert.deepEqual(Object.keys(answers).sort(), queriesOf(root).sort());
    assert.deepEqual(
      answers.peak_by_rank?.rows.slice(0, 3).map(([run, rank]) => [run, rank]),
      [
        ['then-leak', 3],
        ['first', 1],
        ['then-leak', 1],
      ],
    );
    assert.deepEqual(differences(answers, ask(root, python ?? '', folder, 'pyarrow')), []);
    const wrong = sql(folder, 'SELEC 1 FROM steps');
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /^gpu-memtrace: DuckDB: Parser Error: syntax error at or near "SELEC"[^\n]*\n$/);
  },
);

function temporary(t: TestContext): string {
  const place = mkdtempSync(join(tmpdir(), 'gmt-tables-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

function sql(folder: string, query: string) {
  const env = { ...process.env, VIRTUAL_ENV: dirname(dirname(python ?? '')) };
  const words = [join(root, 'dist/cli.js'), 'sql', folder, query, '--format', 'csv'];
  return spawnSync(process.execPath, words, { encoding: 'utf8', env });
}

test('slices of time that stood for steps are gone from the tables once there are steps', { skip }, t => {
  const place = temporary(t);
  const script = join(place, 'late.py');
  // The first tables are written after five seconds.
  const loading = 'import gpu, time\nweights = gpu.empty(1 << 20)\ntime.sleep(7)\n';
  const training = 'for step in range(40):\n    batch = gpu.empty(1 << 20)\n    del batch\n    time.sleep(0.01)\n';
  writeFileSync(script, loading + training);
  const words = ['run', '--simulate-gpu', '--format', 'none', '-o', `${place}/job/`, '--', 'python3', script];
  const own = { XDG_RUNTIME_DIR: '', XDG_CACHE_HOME: join(place, 'cache'), PYTHONPATH: join(root, 'test/workloads') };
  execFileSync(process.execPath, [join(root, 'dist/cli.js'), ...words], { env: { ...process.env, ...own } });
  const rows = sql(join(place, 'job'), 'SELECT count(*) > 30, count(*) < 45, min(step) FROM steps');
  assert.match(rows.stdout, /\ntrue,true,1\r?\n/i, rows.stdout + rows.stderr);
});
