// The rows of the list: a window of what the host sorted, grouped and filtered.
import type { GroupBy, Layer, ProcessInfo, SiteWindow } from '../../../extension/protocol/trace';
import { siteRow, siteRows } from '../../../extension/protocol/trace';
import { rowAt, rowKey, type Judged, type Row } from '../common/rows';
import type { RowSource } from './rowSource';

const MOST_ROWS = 100_000;

export class SiteRows implements RowSource {
  total = 0;
  fullBytes = 0;
  /** Of the rows so far: a column that came stays. */
  threads = new Set<string>();
  /** Rows so far did: see `Several`. */
  grew = false;
  /** Where they are. */
  private files = new Set<string>();
  private another = false;
  private window: SiteWindow | null = null;
  private from = 0;
  private groupBy: GroupBy = 'line';
  private layer: Layer = 'tensor';
  private processes: readonly ProcessInfo[] = [];
  /** By the key of a row, which stays while the biggest site of a line changes; null: nothing is known of it. */
  private verdicts: ReadonlyMap<string, Judged | null> = new Map();

  /** @param load a window of the rows that are shown; undefined: it could not be had */
  constructor(private readonly load: (from: number, to: number) => Promise<SiteWindow | undefined>) {}

  setNames(groupBy: GroupBy, processes: readonly ProcessInfo[], layer: Layer): void {
    this.groupBy = groupBy;
    this.layer = layer;
    this.processes = processes;
  }

  set(window: SiteWindow, from: number): void {
    // What is freed within a step must not make the bars of all others slivers: new data has bars of its own.
    if (from === 0 && window.revision !== this.window?.revision) this.fullBytes = 0;
    if (this.another || window.rows === window.total) this.files.clear();
    this.another = false;
    for (const file of window.file) if (file !== '') this.files.add(file);
    this.window = window;
    this.from = from;
    this.total = window.total;
    window.thread.forEach((thread, i) => this.threads.add(`${window.process[i]}/${thread}`));
    for (const bytes of window.liveBytes) if (bytes > this.fullBytes) this.fullBytes = bytes;
  }

  /** @param asked the rows whose verdicts these are, as of `ids` */
  judge(asked: ReadonlyMap<number, string>, verdicts: ReadonlyMap<number, Judged>): void {
    this.verdicts = new Map([...asked].map(([id, key]) => [key, verdicts.get(id) ?? null]));
    this.grew ||= [...verdicts.values()].some(({ bytesPerStep }) => bytesPerStep > 0);
  }

  /** The file that all rows so far are lines of; '': there are several, or rows are something else. */
  get oneFile(): string {
    const [file = '', ...others] = this.files;
    return others.length === 0 && (this.groupBy === 'line' || this.groupBy === 'site') ? file : '';
  }

  /** Another question: bars are of the old one. `columns`: also verdicts, and what the columns follow; they are the same at each moment. */
  reset(columns: boolean): void {
    if (columns) this.threads.clear();
    if (columns) this.verdicts = new Map();
    this.fullBytes = 0;
    this.another = true;
  }

  forget(): void {
    this.reset(true);
    this.grew = false;
    this.window = null;
    this.total = 0;
  }

  row(index: number): Row | null {
    const i = index - this.from;
    if (!this.window || i < 0 || i >= this.window.rows) return null;
    return this.rowOf(this.window, i);
  }

  indexOf(key: string): number {
    for (let i = 0; i < (this.window?.rows ?? 0); i++)
      if (rowKey(siteRow(this.window!, i), this.groupBy) === key) return this.from + i;
    return -1;
  }

  async rows(from: number, to: number): Promise<Row[]> {
    const here = this.loaded(from, to);
    if (here) return here;
    const window = await this.load(from, Math.min(to, from + MOST_ROWS));
    return window ? Array.from({ length: window.rows }, (_, i) => this.rowOf(window, i)) : [];
  }

  /** Some rows came whose verdict was not requested. */
  unjudged(): boolean {
    return [...this.ids().values()].some(key => !this.verdicts.has(key));
  }

  /** The ids whose verdicts are requested, each with the key of its row. */
  ids(): ReadonlyMap<number, string> {
    const { window, groupBy } = this;
    return new Map(window ? Array.from(siteRows(window), row => [row.id, rowKey(row, groupBy)]) : []);
  }

  private loaded(from: number, to: number): Row[] | null {
    const rows: Row[] = [];
    for (let index = from; index < Math.min(to, this.total); index++) {
      const row = this.row(index);
      if (!row) return null;
      rows.push(row);
    }
    return rows;
  }

  private rowOf(window: SiteWindow, i: number): Row {
    const row = rowAt(window, i, this.groupBy, this.processes, this.layer);
    const verdict = this.verdicts.get(row.key);
    row.verdict = verdict ?? null;
    row.bytesPerStep = verdict === undefined ? NaN : (verdict?.bytesPerStep ?? 0);
    return row;
  }
}
