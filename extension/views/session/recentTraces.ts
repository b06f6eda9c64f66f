// The traces that were recorded or opened lately, also in windows before; those whose file is gone are left out.
import * as vscode from 'vscode';
import { isFields } from '../../base/fields';
import { KEPT, scriptName, traceTitle } from '../../capture/traces/keptTraces';
import { listedPeakBytes, type TraceInfo } from '../../protocol/trace';
import type { FindingVerdict } from '../../protocol/verdicts';
import { formatBytes, unbroken } from '../../text/format';
import { formatWhen } from '../../text/when';
import { foundTexts } from './sessionWords';

/** What is remembered of a trace. */
export interface TraceSummary {
  file: string;
  /** What its session is called: the script of a kept trace, the name of another file. */
  title: string;
  /** The program's script, where the title is another name. */
  program?: string;
  startMs: number;
  /** Of the layer that is listed first, on the device that had most. */
  peakBytes: number;
  /** So many were found. */
  leaks?: number;
  /** What else was found. */
  others?: readonly FindingVerdict[];
  /** Its program ended by itself, and not well; whoever only reads the file later does not know. */
  failed?: boolean;
  /** The user ended its program; whoever only reads the file later does not know. */
  stopped?: boolean;
}

const MEMORY = 'recentTraces';
/** So many that were noted lately stay, whenever they were recorded. */
const MOST_NOTED = 8;

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

  /** Remembers a trace; of many stay those noted lately, and the latest, whose files are kept. */
  note(trace: TraceSummary): void {
    const before = this.remembered();
    const known = before.find(({ file }) => file === trace.file);
    const all = [{ ...known, ...trace }, ...before.filter(one => one !== known)];
    const latest = new Set(all.toSorted(latestFirst).slice(0, KEPT));
    const after = all.filter((one, i) => i < MOST_NOTED || latest.has(one));
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
    const there = (await Promise.all(found)).flat().sort(latestFirst);
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

const latestFirst = (a: TraceSummary, b: TraceSummary): number => b.startMs - a.startMs;

function isSummary(value: unknown): value is TraceSummary {
  if (!isFields(value)) return false;
  const { file, title, startMs, peakBytes } = value;
  return typeof file === 'string' && typeof title === 'string' && [startMs, peakBytes].every(Number.isFinite);
}

export function summaryOf(file: string, { processes, totals, startRealtimeMs }: TraceInfo): TraceSummary {
  const command = processes[0]?.command ?? [];
  const [title, program] = [traceTitle(file), command.length === 0 ? '' : scriptName(command)];
  return {
    file,
    title,
    ...(program !== '' && program !== title && { program }),
    startMs: startRealtimeMs,
    peakBytes: listedPeakBytes(totals),
  };
}

/** `train.py · Nov 29, 9:45 AM · failed · 1 leak · peak 8.10 GiB`; `state`: of one that is open. */
export function summaryWords(
  { program = '', startMs, peakBytes, leaks = 0, others = [], ...end }: TraceSummary,
  state = end.failed ? vscode.l10n.t('failed') : end.stopped ? vscode.l10n.t('stopped') : '',
): string {
  const peak = peakBytes > 0 ? vscode.l10n.t('peak {0}', formatBytes(peakBytes)) : '';
  const found = foundTexts(leaks, others, vscode.l10n.t);
  const parts = [program, formatWhen(startMs, vscode.env.language), state, ...found, peak];
  return parts
    .filter(part => part !== '')
    .map(unbroken)
    .join(' · ');
}
