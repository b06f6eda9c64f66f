// A trace that is open in the window: its state, whether a program writes it or a file holds it.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { EngineProcess } from '../../client/engineProcess';
import { isSnapshot } from '../../files/snapshotFile';
import type { ExportFormat } from '../../protocol/exportFormats';
import { cwdOf, type SourceFolders } from '../../protocol/cwd';
import { marksOf } from '../../protocol/marks';
import type {
  EngineMethod,
  EngineParams,
  EngineResult,
  Opening,
  TraceChange,
  TraceFacts,
} from '../../protocol/requests/engineRequests';
import type { SessionView } from '../../protocol/requests/messages';
import type { Button } from '../../protocol/requests/sessionRequests';
import { NOW, SHOWS_NOW, type EndMoment, type PageMoment, type ShownMoment } from '../../protocol/requests/moment';
import { endOf, exitCodeOf, listedTotals } from '../../protocol/trace';
import { isLeak, type Finding, type FindingVerdict } from '../../protocol/verdicts';
import { formatWhen } from '../../text/when';
import { Refused } from './refused';

/** The state of a trace; the rest of its view is read from it. */
export type SessionState = Omit<
  SessionView,
  | 'id'
  | 'info'
  | 'fixed'
  | 'before'
  | 'newer'
  | 'simulated'
  | 'trusted'
  | 'canWiden'
  | 'marks'
  | 'sessions'
  | 'ending'
  | 'shown'
>;

/** The text about the recorded run that comes with the extension. */
export interface SampleWords {
  title: string;
  detail: string;
  /** This machine has no GPU, so no other program can be traced on it. */
  withoutGpu: boolean;
}

/** The requests to the engine about a trace. */
type OfTrace<M extends EngineMethod> = Omit<EngineParams<M>, 'trace'>;

let lastId = 0;

export class OpenTrace implements vscode.Disposable {
  /** Its number in the window. */
  readonly id = ++lastId;
  protected readonly changed = new vscode.EventEmitter<TraceChange>();
  /** Something in `view` changed. */
  readonly onDidChange = this.changed.event;
  private readonly changedBeside = new vscode.EventEmitter<void>();
  /** What the pages know already: lines have got other colours, or another moment is shown. */
  readonly onDidChangeBeside = this.changedBeside.event;
  protected state: SessionState;
  private known: TraceFacts | null = null;
  private beside: string | null = null;
  /** It is the recorded run that comes with the extension. */
  isSample = false;
  private opened: Omit<Opening, 'trace' | 'ended'> | null = null;
  /** What a page has chosen; null: none has. */
  private onPages: PageMoment | null = null;
  private chosen: ShownMoment | null = null;

  constructor(
    readonly title: string,
    protected readonly engine: EngineProcess,
  ) {
    this.state = { phase: 'starting', title, detail: '', recording: false, exitCode: null };
  }

  /** What is known of the trace; null: none is open. */
  get facts(): TraceFacts | null {
    return this.known;
  }
  /** It can be compared: GPU memory was allocated in it. */
  get hasAllocations(): boolean {
    return (this.known?.info.totals.length ?? 0) > 0;
  }
  get phase(): SessionView['phase'] {
    return this.state.phase;
  }
  /** It ended by itself, and not well. */
  get crashed(): boolean {
    return this.state.crashed ?? false;
  }
  /** The user ends its program, or has ended it. */
  get stopped(): boolean {
    return this.state.stopped ?? false;
  }
  /** So many were found. */
  get leaks(): number {
    return this.known?.findings?.filter(isLeak).length ?? 0;
  }
  /** What else was found, each verdict once. */
  get others(): FindingVerdict[] {
    const others = this.known?.findings?.filter(one => !isLeak(one)) ?? [];
    return [...new Set(others.map(({ verdict }) => verdict))];
  }
  /** A leak or a failed allocation was found. */
  get warns(): boolean {
    return this.known?.findings?.some(one => isLeak(one) || one.failure !== undefined) ?? false;
  }
  /** Where its source files are. */
  get folders(): SourceFolders {
    return { cwd: cwdOf(this.known?.info.session ?? {}), beside: this.beside };
  }
  /** The exception that ended its program, without its line, where that is known. */
  get raised(): { sentence: string; file: string; line: number } | null {
    const { detail: sentence, raisedAt } = this.state;
    return raisedAt === undefined ? null : { ...raisedAt, sentence: sentence.replace(/ \([^()]*:\d+\)$/, '') };
  }
  /** The one that was chosen on a page, else that instead of the end, or now. */
  get shownMoment(): ShownMoment {
    const { chosen, ending } = this;
    const usual = ending && { ...SHOWS_NOW, ...ending, moment: { kind: 'at' as const, timeNs: ending.timeNs } };
    return chosen ?? usual ?? SHOWS_NOW;
  }
  /** Bytes of the layer that is listed first, alive at that moment. */
  get liveBytes(): number {
    const { bytes } = this.shownMoment;
    return bytes ?? listedTotals(this.known?.info.totals ?? []).reduce((sum, { liveBytes }) => sum + liveBytes, 0);
  }
  /** The moment that is shown instead of an end that holds little; null: there is none, or the program continues. */
  get ending(): EndMoment | null {
    return this.known?.ending ?? null;
  }

  view(): Omit<SessionView, 'canWiden' | 'sessions'> {
    const info = this.known?.info ?? null;
    const simulated = info?.processes.some(process => process.simulated) ?? false;
    const marks = info === null ? [] : marksOf(info);
    const { id, ending, onPages } = this;
    const shown = onPages && { shown: onPages };
    return { ...this.state, id, simulated, marks, ending, ...shown, trusted: vscode.workspace.isTrusted, info };
  }

  /** What the engine answers about the trace. Rejects with a sentence. */
  request<M extends EngineMethod>(method: M, of: OfTrace<M>): Promise<EngineResult<M>> {
    if (this.opened === null) return Promise.reject(new Refused(vscode.l10n.t('No trace is open.')));
    return this.engine.request(method, { ...of, trace: this.id } as unknown as EngineParams<M>);
  }

  /** The engine reads on once no page is late. */
  setLate(page: number, late: boolean): void {
    void this.request('late', { page, late }).catch(() => undefined); // it was closed
  }

  /** A page shows this moment: so do the others, and what stands beside them. */
  setMoment(moment: PageMoment): void {
    if (JSON.stringify(moment) === JSON.stringify(this.onPages)) return;
    this.onPages = moment;
    this.changed.fire('state');
    void this.choose().catch(() => undefined); // it was closed
  }

  /** No page shows the chosen moment any more. */
  leaveMoment(): void {
    const { ending } = this;
    if (this.onPages === null) return;
    const usual = ending && { ...ending, moment: { kind: 'at' as const, timeNs: ending.timeNs } };
    const { moment, title, bytes } = usual ?? { moment: NOW, title: '' };
    this.setMoment({ moment, title, ...(bytes !== undefined && { bytes }) });
  }

  private async choose(): Promise<void> {
    const { ending, onPages } = this;
    const moment = onPages?.moment ?? NOW;
    const usual = moment.kind === 'at' ? moment.timeNs === ending?.timeNs : moment.kind === 'now' && ending === null;
    const name = usual ? null : await this.request('nameMoment', { moment });
    if (onPages !== this.onPages) return;
    this.chosen = name && { ...name, moment, isChosen: true };
    this.changedBeside.fire();
  }

  /** Writes the trace in a format of another tool; false: it was stopped. Rejects with a sentence. */
  export(format: ExportFormat, file: string, signal: AbortSignal, progress: (done: number) => void): Promise<boolean> {
    return this.engine.exportTrace({ trace: this.id, format, file }, signal, progress);
  }

  /** What was found, judged as of now or a moment ago. Rejects with a sentence where there is no trace. */
  async judged(): Promise<readonly Finding[]> {
    await this.request('judge', {});
    return this.known?.findings ?? [];
  }

  /** Of what was judged last. Throws a sentence where it is none of the findings any more. */
  finding(id: string): Finding {
    const found = this.known?.findings?.find(entry => entry.id === id);
    if (found === undefined) throw new Refused(vscode.l10n.t('This finding is outdated. Memory has changed.'));
    return found;
  }

  /** Shows a saved trace while it is read; `read`: all of it was read, or it was closed. Rejects with a sentence. */
  async openFile(file: string, sample?: SampleWords): Promise<{ read: Promise<void> }> {
    await this.open({ path: file, directory: null, findsHolders: false });
    this.beside = dirname(file);
    this.isSample = sample !== undefined;
    const offers: Button[] = sample === undefined ? [] : [sample.withoutGpu ? 'doctor' : 'startChosen'];
    this.set({ detail: vscode.l10n.t('Reading the trace…'), offers });
    return { read: this.readToEnd(file, sample) };
  }

  private async readToEnd(file: string, sample?: SampleWords): Promise<void> {
    try {
      await this.request('readToEnd', {});
    } catch {
      return; // it was closed meanwhile
    }
    const when = formatWhen(this.known?.info.startRealtimeMs ?? 0, vscode.env.language);
    const detail = isSnapshot(file)
      ? vscode.l10n.t('PyTorch memory snapshot. Its history starts {0}.', when)
      : vscode.l10n.t('Saved trace, recorded {0}.', when);
    const ended = this.known === null ? {} : endOf(exitCodeOf(this.known.info));
    this.set({ phase: 'ended', ...ended, detail: sample?.detail ?? detail });
  }

  /** Shows why there is no trace, and what can be done. */
  fail(sentence: string, offers: readonly Button[] = []): void {
    this.drop();
    this.set({ phase: 'failed', detail: sentence, recording: false, offers });
  }

  /** Rejects with a sentence. */
  protected async open(opened: Omit<Opening, 'trace' | 'ended'>): Promise<void> {
    this.opened = opened;
    try {
      await this.engine.open({
        opening: () => ({ ...opened, trace: this.id, ended: this.phase === 'ended' }),
        news: (facts, change) => this.take(facts, change),
        lost: sentence => this.set({ detail: sentence }),
      });
    } catch (error) {
      this.opened = null;
      throw new Refused(error instanceof Error ? error.message : String(error));
    }
  }

  private take(facts: Partial<TraceFacts>, change?: TraceChange): void {
    if (this.opened === null) return;
    // What is shown instead of the end comes up, unless an earlier moment is shown.
    if (facts.ending && this.ending === null && this.onPages?.moment.kind === 'now') this.onPages = null;
    if (this.known !== null || facts.info !== undefined)
      this.known = { ...EMPTY, ...this.known, ...facts } as TraceFacts;
    if (facts.hues !== undefined) this.changedBeside.fire();
    if (change === 'events') this.progress();
    else if (change === 'state') this.changed.fire('state');
  }

  protected progress(): void {
    if (this.chosen?.moment.kind === 'born') void this.choose().catch(() => undefined); // of those, fewer may be left
    this.changed.fire('events');
  }

  protected set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
    this.changed.fire('state');
  }

  protected drop(): void {
    this.engine.close(this.id);
    this.opened = null;
    this.known = null;
  }

  dispose(): void {
    this.drop();
    this.changed.dispose();
    this.changedBeside.dispose();
  }
}

const EMPTY: Omit<TraceFacts, 'info'> = { ending: null, hues: new Map(), findings: null };
