// A job's folder as four ranks of two runs leave it, and what its readers say of it. `root` is that of the project.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const RUNS = ['first', 'then-leak'];
const RANKS = [0, 1, 2, 3];
const cliOf = root => join(root, 'dist/cli.js');

/** The queries that ship. */
export const queriesOf = root =>
  readdirSync(join(root, 'extension/exporters/parquet/queries')).map(name => name.replace(/\.sql$/, ''));

/** Records the job below `place`, on the simulated GPU; its folder. */
export async function makeJob(root, place) {
  const folder = join(place, 'job');
  const script = join(root, 'test/ecosystem/jobs/ranks.py');
  const words = ['run', '--simulate-gpu', '--format', 'none', '-o', `${folder}/`, '--', 'python3', script];
  const own = { XDG_RUNTIME_DIR: '', XDG_CACHE_HOME: join(place, 'cache'), PYTHONPATH: join(root, 'test/workloads') };
  for (const run of RUNS)
    await Promise.all(
      RANKS.map(rank => {
        const env = { ...process.env, ...own, RANK: String(rank), WORLD_SIZE: '4', SLURM_JOB_ID: run };
        return promisify(execFile)(process.execPath, [cliOf(root), ...words], { env });
      }),
    );
  return folder;
}

/** What gpu-memtrace prints for a question to the tables. */
export const sql = (root, folder, ...words) =>
  execFileSync(process.execPath, [cliOf(root), 'sql', folder, ...words], { encoding: 'utf8' });

/** The statements of each query that ships for an engine, without their semicolons; the last one selects. */
const statementsOf = (root, folder, engine) =>
  Object.fromEntries(
    queriesOf(root).map(query => [
      query,
      sql(root, folder, query, '--print', engine)
        .split(';\n')
        .filter(each => each.trim() !== ''),
    ]),
  );

/** What tables.py says as `engine`; `words` are those of the engine whose statements it gets. */
export function ask(root, python, folder, engine, words = 'duckdb') {
  const { status, stdout, stderr } = spawnSync(python, [join(root, 'test/ecosystem/tables.py'), engine, folder], {
    input: JSON.stringify(statementsOf(root, folder, words)),
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${engine}: ${stderr.slice(-2000)}`);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

/** Where two engines answer otherwise, in sentences: other rows, or numbers that differ by more than 1e-9 of them. */
export function differences(one, other) {
  return Object.entries(one).flatMap(([query, { columns, rows }]) => {
    const told = other[query];
    if (String(told.columns) !== String(columns)) return [`${query} has the columns ${told.columns}, not ${columns}`];
    if (told.rows.length !== rows.length) return [`${query} has ${told.rows.length} rows, not ${rows.length}`];
    return rows.flatMap((row, i) =>
      row.every((value, j) => isSame(value, told.rows[i][j]))
        ? []
        : [`${query} has ${JSON.stringify(told.rows[i])}, not ${JSON.stringify(row)}`],
    );
  });
}

const isSame = (a, b) =>
  a === b ||
  (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)));
