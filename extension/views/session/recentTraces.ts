// The traces that were recorded or opened lately, also in windows before; those whose file is gone are left out.
import * as vscode from 'vscode';
import { isFields } from '../../base/fields';
import { scriptName } from '../../capture/traces/keptTraces';
import { isSnapshot } from '../../files/snapshotFile';
import { listedPeakBytes, type TraceInfo } from '../../protocol/trace';
import { baseName, formatBytes } from '../../text/format';
import { leaksText } from './sessionWords';

/** What is remembered of a trace. */
export interface TraceSummary {
  file: string;
  /** The program's script, or the name of a snapshot's file. */
  title: string;
  startMs: number;
  /** Of the layer that is listed first, on the device that had most. */
  peakBytes: number;
  /** So many were found. */
  leaks?: number;
}

const MEMORY = 'recentTraces';
/** As many as a list of choices shows without scrolling. */
const MOST = 8;

export class RecentTraces implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private known: readonly TraceSummary[] = [];

  constructor(private readonly memory: vscode.Memento) {
    void this.refresh();
  }

  /** The latest recorded first, as of the last look at the files. */
  get all(): readonly TraceSummary[] {
    return this.known;
  }

  /** Remembers a trace; of many, those noted lately stay. */
  note(trace: TraceSummary): void {
    const before = this.remembered();
    const after = [trace, ...before.filter(({ file }) => file !== trace.file)].slice(0, MOST);
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    void this.memory.update(MEMORY, after).then(() => this.refresh());
  }

  /** Looks which files are there. */
  async refresh(): Promise<readonly TraceSummary[]> {
    const found = this.remembered().map(trace =>
      vscode.workspace.fs.stat(vscode.Uri.file(trace.file)).then(
        () => [trace],
        () => [],
      ),
    );
    const there = (await Promise.all(found)).flat().sort((a, b) => b.startMs - a.startMs);
    const differs = JSON.stringify(there) !== JSON.stringify(this.known);
    this.known = there;
    if (differs) this.changed.fire();
    return there;
  }

  private remembered(): TraceSummary[] {
    const kept = this.memory.get<unknown>(MEMORY, []);
    return Array.isArray(kept) ? kept.filter(isSummary) : [];
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function isSummary(value: unknown): value is TraceSummary {
  if (!isFields(value)) return false;
  const { file, title, startMs, peakBytes } = value;
  return typeof file === 'string' && typeof title === 'string' && [startMs, peakBytes].every(Number.isFinite);
}

export function summaryOf(file: string, { processes, totals, startRealtimeMs }: TraceInfo, leaks = 0): TraceSummary {
  const command = processes[0]?.command ?? [];
  return {
    file,
    title: isSnapshot(file) || command.length === 0 ? baseName(file) : scriptName(command),
    startMs: startRealtimeMs,
    peakBytes: listedPeakBytes(totals),
    leaks,
  };
}

/** `Nov 29, 2026, 9:45 AM` */
export function whenText(startMs: number): string {
  return new Date(startMs).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `Nov 29, 2026, 9:45 AM · 1 leak · peak 8.10 GiB` */
export function summaryWords({ startMs, peakBytes, leaks = 0 }: TraceSummary): string {
  const peak = peakBytes > 0 ? vscode.l10n.t('peak {0}', formatBytes(peakBytes)) : '';
  return [whenText(startMs), leaksText(leaks, vscode.l10n.t), peak].filter(part => part !== '').join(' · ');
}
