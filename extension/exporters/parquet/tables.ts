// The tables of a job's folder, a public format: docs/tables.md describes each column. Columns may be added; what is there stays as it is.

export const FORMAT_VERSION = 1;

/** As Parquet has them; `TIMESTAMP` is in milliseconds, UTC. */
export type ColumnType = 'INT32' | 'INT64' | 'DOUBLE' | 'STRING' | 'BOOLEAN' | 'TIMESTAMP';
export type Columns = Readonly<Record<string, ColumnType>>;

/** In every row. */
const RANK = { run: 'STRING', rank: 'INT32', host: 'STRING', pid: 'INT32' } as const;
const LINE = { file: 'STRING', line: 'INT32', function: 'STRING' } as const;

export const TABLES = {
  runs: {
    ...{ run: 'STRING', format_version: 'INT32', command: 'STRING', branch: 'STRING', commit: 'STRING' },
    ...{ world_size: 'INT32', started_at: 'TIMESTAMP', simulated: 'BOOLEAN' },
  },
  ranks: {
    ...RANK,
    ...{ local_rank: 'INT32', node_rank: 'INT32', world_size: 'INT32', role: 'STRING' },
    ...{ dp: 'INT32', tp: 'INT32', pp: 'INT32', ep: 'INT32', mesh: 'STRING' },
    ...{ device: 'INT32', gpu: 'STRING', gpu_name: 'STRING', total_bytes: 'INT64' },
    ...{ started_at: 'TIMESTAMP', seconds: 'DOUBLE', live: 'BOOLEAN', exit_code: 'INT32' },
    ...{ steps: 'INT32', step_source: 'STRING', layer: 'STRING', peak_bytes: 'INT64', out_of_memory: 'INT32' },
    ...{ lost_events: 'INT64', lost: 'STRING', simulated: 'BOOLEAN', trace: 'STRING' },
  },
  steps: {
    ...RANK,
    ...{ device: 'INT32', first_step: 'INT32', step: 'INT32', ended_at: 'TIMESTAMP', end_ns: 'INT64' },
    ...{ live_bytes: 'INT64', peak_bytes: 'INT64', reserved_bytes: 'INT64', driver_bytes: 'INT64' },
    ...{ host_bytes: 'INT64', process_bytes: 'INT64', used_bytes: 'INT64', total_bytes: 'INT64', flags: 'INT32' },
  },
  stacks: {
    ...RANK,
    ...{ stack_id: 'STRING', layer: 'STRING', source: 'STRING', ...LINE, library: 'STRING', frames: 'STRING' },
    ...{ live_bytes: 'INT64', peak_bytes: 'INT64' },
  },
  site_steps: {
    ...RANK,
    ...{ device: 'INT32', layer: 'STRING', stack_id: 'STRING', first_step: 'INT32', step: 'INT32' },
    ...{ category: 'STRING', live_bytes: 'INT64', live_blocks: 'INT64', peak_bytes: 'INT64' },
    ...{ allocations: 'INT64', allocated_bytes: 'INT64', frees: 'INT64', freed_bytes: 'INT64' },
  },
  allocations: {
    ...RANK,
    ...{ stack_id: 'STRING', layer: 'STRING', kind: 'STRING', device: 'INT32', address: 'INT64', bytes: 'INT64' },
    ...{ tid: 'INT32', thread: 'STRING', allocated_at: 'TIMESTAMP', begin_ns: 'INT64', end_ns: 'INT64' },
    ...{ free_thread: 'STRING', step: 'INT32', category: 'STRING', module: 'STRING', stream: 'STRING' },
    ...{ ...LINE, stack: 'STRING', simulated: 'BOOLEAN' },
  },
  events: {
    ...RANK,
    ...{ at: 'TIMESTAMP', at_ns: 'INT64', kind: 'STRING', device: 'INT32', bytes: 'INT64', text: 'STRING' },
  },
  findings: {
    ...RANK,
    ...{ verdict: 'STRING', class: 'STRING', ...LINE, bytes_per_step: 'INT64', bytes: 'INT64', since_step: 'INT32' },
    ...{ confidence: 'DOUBLE', holder: 'STRING', title: 'STRING', suggestion: 'STRING' },
  },
} as const satisfies Record<string, Columns>;

export type TableName = keyof typeof TABLES;

interface Values {
  INT32: number;
  INT64: number | bigint;
  DOUBLE: number;
  STRING: string;
  BOOLEAN: boolean;
  TIMESTAMP: number;
}
/** null, and NaN in a column of numbers: not known. */
export type RowOf<C extends Columns> = { [name in keyof C]: Values[C[name]] | null };
export type TableRow<T extends TableName> = RowOf<(typeof TABLES)[T]>;

/** A table of one rank, in pieces. */
export type RankTable = { [T in TableName]: { name: T; rows: Iterable<TableRow<T>> } }[TableName];
