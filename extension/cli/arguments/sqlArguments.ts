import { applyOptions, type OptionTable, Usage } from './optionReader';

const ENGINES = ['duckdb', 'clickhouse', 'spark'] as const;

export interface SqlArguments {
  verb: 'sql';
  /** Of a job. */
  folder: string;
  /** A statement, or the name of one that ships; null: these are listed. */
  query: string | null;
  /** The statements are printed for it; null: DuckDB runs them. */
  engine: (typeof ENGINES)[number] | null;
  format: 'table' | 'csv';
}

const OPTIONS: OptionTable<SqlArguments> = {
  '--print': (parsed, options) => (parsed.engine = options.optionalChoice(ENGINES, 'duckdb')),
  '--format': (parsed, options) => (parsed.format = options.choice(['table', 'csv'])),
};

/** What stands behind `sql`. Throws `Usage`, `HelpRequested`. */
export function parseSql(words: readonly string[]): SqlArguments {
  const parsed: SqlArguments = { verb: 'sql', folder: '', query: null, engine: null, format: 'table' };
  const named = applyOptions(parsed, words, OPTIONS);
  const [folder, query = null, ...more] = named;
  if (folder === undefined || more.length > 0)
    throw new Usage('Give a job folder and a query: gpu-memtrace sql DIR peak_by_rank, or "SELECT …".');
  return { ...parsed, folder, query };
}
