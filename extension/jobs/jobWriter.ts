import { join } from 'node:path';
import { ranksOf, rankSummary } from '../analysis/job/rankSummary';
import { named, processName, rankFolder, removeProcess, runThere, writeSummary } from '../capture/traces/jobFolder';
import { removeFile, writeWhole } from '../files/files';
import type { NativeAddon, NativeTrace } from '../native/addon';
import { isAlive, makeInput } from '../exporters/exportInput';
import type * as parquetBundle from '../exporters/parquet';
import type { TableName, TableRow } from '../exporters/parquet/tables';
import type { RankSummary } from '../protocol/job';
import { remembered } from '../base/maps';
import type { StepSource } from '../protocol/trace';

type Parquet = typeof parquetBundle;
/** Allocations with their bytes times time: none with no more than `least`, and beyond `most` of them the lightest are dropped. */
type Kept = { rows: { weight: number; row: TableRow<'allocations'> }[]; least: number; most: number };
type Steps = { rows: TableRow<'steps'>[]; after: number; part: number; source: StepSource };

/** A day of steps at ten a second has nine files. */
const STEPS_A_FILE = 100_000;
/** What the model keeps apart of the newest steps, so that a read every second misses few. */
const NEWEST = 2048;
/** The heaviest ended allocations: those with the most bytes times time, of which peaks are made. */
const ENDED = 20_000;

/** Writes what a job's folder has of the processes of one trace, again and again. */
export class JobWriter {
  private readonly steps = new Map<number, Steps>();
  /** Where what was written of each process lies: torch.distributed may report its rank late. */
  private readonly places = new Map<number, string>();

  private constructor(
    private readonly parquet: Parquet,
    private readonly folder: string,
    private readonly session: NativeTrace,
    private readonly trace: string | null,
    private readonly asOfMs: number | null,
  ) {}

  /** `trace`: where the saved trace is or will be, from the folder; null: nowhere. `asOfMs`: when it was saved, where that was before. */
  static async open(
    folder: string,
    session: NativeTrace,
    trace: string | null,
    asOfMs: number | null = null,
  ): Promise<JobWriter> {
    return new JobWriter(await import('../exporters/parquet'), folder, session, trace, asOfMs);
  }

  /** The summary of each process now, with its run and rank. */
  summaries(): RankSummary[] {
    return this.ranks(true).map(({ summary }) => summary);
  }

  /** Takes the steps that have ended since: later the model joins them. */
  gather(): void {
    for (const { process, summary } of this.ranks(false)) this.stepsOf(process, summary);
  }

  /** Writes the summaries and all tables but the allocations. Throws as `fs` does. */
  write(): void {
    for (const { process, summary } of this.ranks(true)) {
      const steps = this.stepsOf(process, summary);
      const [before, place] = [this.places.get(process), rankFolder(this.folder, summary)];
      if (before !== undefined && before !== place) removeProcess(before, summary);
      this.places.set(process, place);
      for (const { name, rows } of this.parquet.rankTables(this.session, process, summary, steps.rows))
        this.writeTable(summary, name, rows, name === 'steps' ? steps.part : 0);
      writeSummary(this.folder, summary, this.asOfMs);
      if (steps.rows.length < STEPS_A_FILE) continue;
      steps.rows = [];
      steps.part++;
    }
  }

  /** Writes what is alive, and what of the rest had most bytes for longest; `all`: every allocation. */
  async writeAllocations(addon: NativeAddon, path: string, all: boolean): Promise<void> {
    if (ranksOf(this.session.info()).length === 0) return; // nor is there a log
    const cursor = addon.openLifetimes(path);
    try {
      const input = makeInput(this.session, cursor, { fromNs: null, untilNs: null });
      const rowOf = this.parquet.allocationRow(input);
      const kept = new Map<number | null, Kept>();
      for await (const batch of input.batches)
        for (let i = 0; i < batch.rows; i++) {
          const pid = input.info.processes[batch.process[i] ?? -1]?.pid ?? null;
          const own = remembered(kept, pid, () => ({ rows: [], least: -1, most: 2 * ENDED }));
          const lived = (batch.endNs[i] ?? 0) - (batch.beginNs[i] ?? 0);
          const weight = isAlive(batch, i) ? Infinity : (batch.bytes[i] ?? 0) * lived;
          if (weight <= own.least && !all) continue; // most of a long trace: no row is made of it
          if (own.rows.push({ weight, row: rowOf(batch, i) }) > own.most && !all) keepHeaviest(own);
        }
      for (const { summary } of this.ranks(false)) {
        const heaviest = kept.get(summary.pid);
        if (heaviest !== undefined && !all) keepHeaviest(heaviest);
        const own = (heaviest?.rows ?? []).map(({ row }) => ({ ...row, run: summary.run, rank: summary.rank }));
        this.writeTable(summary, 'allocations', own, 0);
      }
    } finally {
      cursor.close();
    }
  }

  private ranks(whole: boolean): { process: number; summary: RankSummary }[] {
    const info = this.session.info();
    const found = ranksOf(info).flatMap(process => {
      const summary = rankSummary(this.session, process, this.trace, whole);
      if (summary === null) return [];
      // Made again of its trace, it stays in its run, though the folder may have another name now.
      const run = summary.run || (this.asOfMs === null ? '' : runThere(this.folder, summary));
      return [{ process, summary: { ...summary, run } }];
    });
    const summaries = named(
      found.map(({ summary }) => summary),
      this.folder,
      info.startRealtimeMs,
    );
    return found.flatMap(({ process }, i) => (summaries[i] === undefined ? [] : [{ process, summary: summaries[i] }]));
  }

  private stepsOf(process: number, summary: RankSummary): Steps {
    const begins = (): Steps => ({ rows: [], after: 0, part: 0, source: summary.stepSource });
    let known = remembered(this.steps, process, begins);
    if (known.source !== summary.stepSource) {
      // Slices of time stood for steps until the first training step: none of them is one.
      for (let part = 0; part <= known.part; part++) removeFile(this.fileOf(summary, 'steps', part));
      this.steps.set(process, (known = begins()));
    }
    const series = this.session.ledgerSeries({ process, device: summary.device, points: NEWEST });
    const rows = this.parquet.stepRows(series, summary, this.session.info().startRealtimeMs, known.after);
    for (const row of rows) known.rows.push(row);
    known.after = rows.at(-1)?.step ?? known.after;
    return known;
  }

  private writeTable(summary: RankSummary, name: TableName, rows: Iterable<object>, part: number): void {
    const facts = { table: name, lost: summary.lost, simulated: summary.simulated };
    const chunks = this.parquet.parquetChunks(this.parquet.TABLES[name], rows as Iterable<never>, facts);
    writeWhole(this.fileOf(summary, name, part), chunks);
  }

  private fileOf(summary: RankSummary, name: TableName, part: number): string {
    const file = `${name}.${processName(summary)}${part > 0 ? `.${part}` : ''}.parquet`;
    return join(rankFolder(this.folder, summary), file);
  }
}

function keepHeaviest(kept: Kept): void {
  const alive = kept.rows.filter(({ weight }) => weight === Infinity);
  const ended = kept.rows.filter(({ weight }) => weight < Infinity).sort((a, b) => b.weight - a.weight);
  kept.least = ended[ENDED - 1]?.weight ?? -1;
  kept.rows = [...alive, ...ended.slice(0, ENDED)];
  kept.most = kept.rows.length + ENDED;
}
