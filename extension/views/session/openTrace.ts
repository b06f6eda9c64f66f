// A trace that is open in the window: what it says of itself, whether a program writes it or a file holds it.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { endingOf, endingWords } from '../../analysis/report/ending';
import { BEHIND_NS } from '../../analysis/report/oomReport';
import { TraceSession } from '../../engine/session';
import { isSnapshot, traceFile } from '../../engine/traceFile';
import { cwdOf, type SourceFolders } from '../../protocol/cwd';
import { GroupSlots } from '../../protocol/groupSlots';
import { marksOf } from '../../protocol/marks';
import type { SessionView } from '../../protocol/requests/messages';
import type { EndMoment } from '../../protocol/requests/moment';
import type { StackBy } from '../../protocol/requests/timelineRequests';
import { listedLayer } from '../../protocol/trace';
import { isLeak } from '../../protocol/verdicts';
import { nativeAddon, Refused } from './refused';
import { TraceVerdicts } from './traceVerdicts';

/** What changed of a trace: it has more events, or anything else may have changed as well. */
export type SessionChange = 'events' | 'state';

/** What a trace says of itself; the rest of its view is read from it. */
export type SessionState = Omit<
  SessionView,
  'id' | 'info' | 'simulated' | 'trusted' | 'canWiden' | 'marks' | 'sessions' | 'ending'
>;

/** What is said of the recorded run that comes with the extension. */
export interface SampleWords {
  title: string;
  detail: string;
}

/** Between an event and its row on the page lie this, an answer and a frame; while events come, a pulse (`TraceSession`). */
const POLL_MS = 50;

export class OpenTrace implements vscode.Disposable {
  protected readonly changed = new vscode.EventEmitter<SessionChange>();
  /** Something in `view` changed. */
  readonly onDidChange = this.changed.event;
  private readonly coloured = new vscode.EventEmitter<void>();
  /** Lines have got other colours. */
  readonly onDidColour = this.coloured.event;
  protected state: SessionState;
  private source: TraceSession | null = null;
  private beside: string | null = null;
  private judged: TraceVerdicts | null = null;
  private end: EndMoment | null = null;
  private readonly slots: Record<StackBy, GroupSlots> = {
    line: new GroupSlots(),
    category: new GroupSlots(),
    thread: new GroupSlots(),
  };
  private stacked: ReadonlyMap<string, number> = new Map();

  constructor(
    readonly id: number,
    readonly title: string,
  ) {
    this.state = { phase: 'starting', title, detail: '', recording: false, exitCode: null };
  }

  get trace(): TraceSession | null {
    return this.source;
  }
  /** What is said of its memory. */
  get verdicts(): TraceVerdicts | null {
    return this.judged;
  }
  get phase(): SessionView['phase'] {
    return this.state.phase;
  }
  /** It ended by itself, and not well. */
  get crashed(): boolean {
    return this.state.crashed ?? false;
  }
  /** So many were found. */
  get leaks(): number {
    return this.judged?.latest?.findings.filter(isLeak).length ?? 0;
  }
  /** Where its source files are. */
  get folders(): SourceFolders {
    return { cwd: cwdOf(this.source?.native.info().session ?? {}), beside: this.beside };
  }
  /** Bytes of the layer that is listed first, alive now or at the moment that is shown instead. */
  get liveBytes(): number {
    if (this.end !== null) return this.end.bytes;
    const totals = this.source?.native.info().totals ?? [];
    const layer = listedLayer(totals);
    return totals.reduce((sum, total) => (total.layer === layer ? sum + total.liveBytes : sum), 0);
  }

  /** Colours of the lines that the timeline stacks, by `file:line`. */
  get lineHues(): ReadonlyMap<string, number> {
    return this.stacked;
  }

  /** The colours of groups of the timeline, in their order: one that stays keeps its own. */
  colourGroups(by: StackBy, names: readonly string[]): number[] {
    const slots = this.slots[by].assign(names);
    if (by === 'line' && names.some((name, i) => this.stacked.get(name) !== slots[i])) {
      this.stacked = new Map(names.map((name, i) => [name, slots[i] ?? 0]));
      this.coloured.fire();
    }
    return slots;
  }

  view(): Omit<SessionView, 'canWiden' | 'sessions'> {
    const info = this.source?.native.info() ?? null;
    const simulated = info?.processes.some(process => process.simulated) ?? false;
    const marks = info === null ? [] : marksOf(info);
    const { id, ending } = this;
    return { ...this.state, id, simulated, marks, ending, trusted: vscode.workspace.isTrusted, info };
  }

  /** The moment that is shown instead of an end that holds little; null: there is none, or the program goes on. */
  get ending(): EndMoment | null {
    return this.end;
  }

  /**
   * Looks for the moment that is shown instead of the end. `followed`: the trace was read while it was recorded; read once more its
   * times are those that a moment of it is read by. Rejects when it is closed.
   */
  protected async findEnding(followed: boolean): Promise<void> {
    const { source } = this;
    if (source === null || endingOf(source.native) === null) return;
    const { durationNs } = source.native.info();
    const found = endingOf(followed ? await source.moments.at(durationNs + BEHIND_NS) : source.native);
    if (this.source !== source) return;
    this.end = found && { timeNs: found.timeNs, bytes: found.bytes, ...endingWords(found) };
  }

  /** Shows a saved trace while it is read; `read`: all of it was read, or it was closed. Rejects with a sentence. */
  async openFile(dist: string, file: string, sample?: SampleWords): Promise<{ read: Promise<void> }> {
    const trace = await openSaved(dist, file);
    this.beside = dirname(file);
    this.follow(trace, null);
    this.set({ detail: vscode.l10n.t('Reading the trace…'), sample: sample !== undefined });
    return { read: this.readToEnd(trace, file, sample) };
  }

  private async readToEnd(trace: TraceSession, file: string, sample?: SampleWords): Promise<void> {
    try {
      await trace.native.settle();
    } catch {
      return; // it was closed meanwhile
    }
    trace.pause();
    await this.findEnding(false);
    const when = new Date(trace.native.info().startRealtimeMs).toLocaleString();
    const detail = isSnapshot(file)
      ? vscode.l10n.t('A memory snapshot of PyTorch, whose history begins {0}.', when)
      : vscode.l10n.t('A saved trace, recorded {0}.', when);
    this.set({ phase: 'ended', detail: sample?.detail ?? detail });
  }

  /** Shows why there is no trace. */
  fail(sentence: string, noInterpreter = false): void {
    this.drop();
    this.set({ phase: 'failed', detail: sentence, recording: false, noInterpreter });
  }

  /** `directory`: where the trace is recorded; null: it is a file. */
  protected follow(trace: TraceSession, directory: string | null): void {
    this.source = trace;
    this.judged = new TraceVerdicts(trace.native, directory);
    this.judged.onDidChange(() => this.changed.fire('state'));
    trace.onChange(() => this.progress());
    trace.follow(POLL_MS);
  }

  protected progress(): void {
    this.changed.fire('events');
  }

  protected set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
    this.changed.fire('state');
  }

  protected drop(): void {
    this.judged?.dispose();
    this.judged = null;
    this.source?.close();
    this.source = null;
    this.end = null;
  }

  dispose(): void {
    this.drop();
    this.changed.dispose();
    this.coloured.dispose();
  }
}

async function openSaved(dist: string, file: string): Promise<TraceSession> {
  const addon = nativeAddon(dist);
  try {
    const { path, release } = await traceFile(addon, file);
    return new TraceSession(addon, path, release);
  } catch (error) {
    throw new Refused(error instanceof Error ? error.message : String(error));
  }
}
