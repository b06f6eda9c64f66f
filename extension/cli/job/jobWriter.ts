import { join } from 'node:path';
import { ranksOf, rankSummary } from '../../analysis/job/rankSummary';
import { named, processName, rankFolder, writeSummary, writeWhole } from '../../capture/traces/jobFolder';
import type { NativeAddon, NativeSession } from '../../engine/addon';
import { makeInput } from '../../exporters/exportInput';
import type * as parquetBundle from '../../exporters/parquet';
import type { TableName, TableRow } from '../../exporters/parquet/tables';
import type { RankSummary } from '../../protocol/job';

type Parquet = typeof parquetBundle;
type Steps = { rows: TableRow<'steps'>[]; after: number; part: number };

/** A day of steps at ten a second has nine files. */
const STEPS_A_FILE = 100_000;
/** What the model keeps apart of the newest steps, so that a look every second misses few. */
const NEWEST = 2048;
/** Ended allocations that are told, those with the most bytes times time; 0 of them would hide what a peak was made of. */
const ENDED = 50_000;

/** Writes what a job's folder has of the processes of one trace, again and again. */
export class JobWriter {
  private readonly steps = new Map<number, Steps>();

  private constructor(
    private readonly parquet: Parquet,
    private readonly folder: string,
    private readonly session: NativeSession,
    private readonly trace: string | null,
  ) {}

  /** `trace`: where the saved trace is or will be, from the folder; null: nowhere. */
  static async open(folder: string, session: NativeSession, trace: string | null): Promise<JobWriter> {
    return new JobWriter(await import('../../exporters/parquet'), folder, session, trace);
  }

  /** Takes the steps that have ended since: later the model joins them. */
  gather(): void {
    for (const { process, summary } of this.ranks(false)) this.stepsOf(process, summary);
  }

  /** Writes the summaries and all tables but the allocations. Throws as `fs` does. */
  write(): void {
    for (const { process, summary } of this.ranks(true)) {
      const steps = this.stepsOf(process, summary);
      for (const { name, rows } of this.parquet.rankTables(this.session, process, summary, steps.rows))
        this.writeTable(summary, name, rows, name === 'steps' ? steps.part : 0);
      writeSummary(this.folder, summary);
      if (steps.rows.length < STEPS_A_FILE) continue;
      steps.rows = [];
      steps.part++;
    }
  }

  /** Writes what is alive, and what of the rest had most bytes for longest; `all`: every allocation. */
  async writeAllocations(addon: NativeAddon, path: string, all: boolean): Promise<void> {
    const cursor = addon.openLifetimes(path);
    try {
      const input = makeInput(this.session, cursor, { fromNs: null, untilNs: null });
      const rowOf = this.parquet.allocationRow(input);
      const kept = new Map<number | null, TableRow<'allocations'>[]>();
      for await (const batch of input.batches)
        for (let i = 0; i < batch.rows; i++) {
          const row = rowOf(batch, i);
          const rows = kept.get(row.pid) ?? [];
          kept.set(row.pid, rows);
          if (rows.push(row) > 2 * ENDED && !all) kept.set(row.pid, heaviest(rows));
        }
      for (const { summary } of this.ranks(false)) {
        const rows = kept.get(summary.pid) ?? [];
        const own = (all ? rows : heaviest(rows)).map(row => ({ ...row, run: summary.run, rank: summary.rank }));
        this.writeTable(summary, 'allocations', own, 0);
      }
    } finally {
      cursor.close();
    }
  }

  private ranks(whole: boolean): { process: number; summary: RankSummary }[] {
    return ranksOf(this.session.info()).flatMap((process, index) => {
      const summary = rankSummary(this.session, process, this.trace, whole);
      return summary === null ? [] : [{ process, summary: named(summary, this.folder, index) }];
    });
  }

  private stepsOf(process: number, summary: RankSummary): Steps {
    const known = this.steps.get(process) ?? { rows: [], after: 0, part: 0 };
    this.steps.set(process, known);
    const series = this.session.ledgerSeries({ process, device: summary.device, points: NEWEST });
    const rows = this.parquet.stepRows(series, summary, this.session.info().startRealtimeMs, known.after);
    for (const row of rows) known.rows.push(row);
    known.after = rows.at(-1)?.step ?? known.after;
    return known;
  }

  private writeTable(summary: RankSummary, name: TableName, rows: Iterable<object>, part: number): void {
    const file = `${name}.${processName(summary)}${part > 0 ? `.${part}` : ''}.parquet`;
    const facts = { table: name, lost: summary.lost, simulated: summary.simulated };
    const chunks = this.parquet.parquetChunks(this.parquet.TABLES[name], rows as Iterable<never>, facts);
    writeWhole(join(rankFolder(this.folder, summary), file), chunks);
  }
}

function heaviest(rows: TableRow<'allocations'>[]): TableRow<'allocations'>[] {
  const weight = ({ bytes, begin_ns, end_ns }: TableRow<'allocations'>): number =>
    Number(bytes) * (Number(end_ns) - Number(begin_ns));
  const ended = rows.filter(({ end_ns }) => end_ns !== null).sort((a, b) => weight(b) - weight(a));
  return [...ended.slice(0, ENDED), ...rows.filter(({ end_ns }) => end_ns === null)];
}
