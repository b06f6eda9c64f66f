import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isJobFolder } from '../../capture/traces/jobFolder';
import { isolatedPython } from '../../capture/processes/machine';
import { readText } from '../../files/files';
import { attempt } from '../../base/attempt';
import type { SqlArguments } from '../arguments/sqlArguments';
import { print, refuse } from '../output/output';
import { writeTables } from '../../jobs/readJob';

const FAILED = 1;
const USAGE = 2;
/** DuckDB's own program, else its package for Python; the statements come on standard input. */
const PYTHON = `import csv, sys, duckdb
*views, select = [each for each in sys.stdin.read().split(";\\n") if each.strip()]
for view in views:
    duckdb.sql(view)
result = duckdb.sql(select)
if result is not None and sys.argv[1] == "csv":
    out = csv.writer(sys.stdout, lineterminator="\\n")
    out.writerow(result.columns)
    out.writerows(result.fetchall())
elif result is not None:
    result.show(max_rows=1000, max_width=240)
`;
export const TABLES = ['runs', 'ranks', 'steps', 'stacks', 'site_steps', 'allocations', 'events', 'findings'] as const;

/** Queries the tables of a job's folder with the user's own DuckDB, or prints the statements for it or for another engine. Makes tables that are missing. */
export async function sql({ folder, query, engine, format }: SqlArguments, dist: string): Promise<number> {
  const shipped = join(dist, '../extension/exporters/parquet/queries');
  const named = new Map(
    readdirSync(shipped)
      .filter(name => name.endsWith('.sql'))
      .map(name => [name.slice(0, -4), readText(join(shipped, name)).trim()]),
  );
  const there = isJobFolder(folder);
  if (query === null && there) {
    print([...named].map(([name, text]) => `${name.padEnd(24)}${text.split('\n', 1)[0]?.slice(3) ?? ''}`));
    return 0;
  }
  if (query === null || !there)
    return refuse(
      `${folder} is not a job folder. Record one with "gpu-memtrace run -o DIR/ -- python train.py".`,
      FAILED,
    );
  const select = named.get(query) ?? query;
  if (!/\s/.test(select))
    return refuse(`There is no query "${query}". Queries: ${[...named.keys()].join(', ')}.`, USAGE);
  const notes = await writeTables(folder, dist);
  if (filesIn(folder).length === 0) return refuse(notes[0] ?? `${folder} has no tables and no traces yet.`, FAILED);
  print(notes, 2);
  const statements = [...views(resolve(folder), engine ?? 'duckdb', select), select.replace(/;\s*$/, '')];
  if (engine !== null) {
    print(statements.flatMap(statement => `${statement};`.split('\n')));
    return 0;
  }
  return run(statements, format);
}

/** A view for each table of the folder that a query names, by the words of an engine. */
function views(folder: string, engine: NonNullable<SqlArguments['engine']>, query: string): string[] {
  const there = new Set(filesIn(folder).map(name => name.split('.', 1)[0]));
  // Opens all files before it reads them: only runs may differ in their columns.
  const union = readdirSync(folder).filter(name => name.startsWith('run=')).length > 1;
  const quoted = (table: string): string =>
    `'${join(folder, 'run=*/rank=*', `${table}.*.parquet`).replaceAll("'", "''")}'`;
  const texts: Record<typeof engine, (table: string) => string> = {
    duckdb: table =>
      `CREATE TEMP VIEW ${table} AS SELECT * FROM read_parquet(${quoted(table)}, union_by_name = ${union}, hive_partitioning = false)`,
    clickhouse: table => `CREATE TEMPORARY VIEW ${table} AS SELECT * FROM file(${quoted(table)}, Parquet)`,
    spark: table => `CREATE TEMPORARY VIEW ${table} USING parquet OPTIONS (path ${quoted(table)}, mergeSchema true)`,
  };
  const all = TABLES.filter(table => there.has(table));
  const named = all.filter(table => new RegExp(`\\b${table}\\b`, 'i').test(query));
  return (named.length > 0 ? named : all).map(table => texts[engine](table));
}

/** DuckDB's own words for what went wrong, without the classes that Python puts before them. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return /[A-Z]\w* Error: .*/.exec(stderr)?.[0] ?? lines.at(-1)?.replace(/^[\w.]+: /, '') ?? 'it failed';
}

function filesIn(folder: string): string[] {
  const below = (path: string, begin: string): string[] =>
    attempt(() => readdirSync(path), [])
      .filter(name => name.startsWith(begin))
      .map(name => join(path, name));
  const ranks = below(folder, 'run=').flatMap(run => below(run, 'rank='));
  return ranks.slice(0, 100).flatMap(rank => attempt(() => readdirSync(rank), []));
}

function run(statements: readonly string[], format: SqlArguments['format']): number {
  const input = statements.map(statement => `${statement};\n`).join('');
  const ways: [string, string[]][] = [
    ['duckdb', ['-no-stdin', ...(format === 'csv' ? ['-csv'] : []), '-c', input]],
    ...[join(process.env.VIRTUAL_ENV ?? '/nowhere', 'bin/python'), 'python3', 'python'].map(
      (python): [string, string[]] => [python, [...isolatedPython(PYTHON), format]],
    ),
  ];
  for (const [program, words] of ways) {
    if (words[0] === '-I' && spawnSync(program, isolatedPython('import duckdb')).status !== 0) continue;
    const done = spawnSync(program, words, { input, stdio: ['pipe', 'inherit', 'pipe'], encoding: 'utf8' });
    if (done.error !== undefined) continue;
    if (done.status === 0) return 0;
    return refuse(`DuckDB: ${reasonIn(done.stderr)}`, FAILED);
  }
  return refuse(
    'DuckDB was not found. Put duckdb on PATH, or run pip install duckdb. --print prints the statements instead.',
    FAILED,
  );
}
