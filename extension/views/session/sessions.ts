import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { KEPT, KEPT_BYTES, scriptName, traceTitle } from '../../capture/traces/keptTraces';
import { keptTracesRoot } from '../../capture/traces/folders';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import type { ProcessFacts } from '../../capture/processes/processes';
import { takeAnnounced } from '../../capture/traces/announce';
import { readSession } from '../../capture/traces/sessionFile';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { NO_SESSION, type RecentEntry, type SessionView } from '../../protocol/requests/messages';
import type { Button } from '../../protocol/requests/sessionRequests';
import { isUnread, newerRun, runBefore } from '../../files/tracedProgram';
import { formatWhen } from '../../text/when';
import { RUNNING_SESSIONS } from '../contributedNames';
import { Recorder, type Remembered } from './beginRecording';
import { BesidePages } from './besidePages';
import type { EngineProcess } from '../../client/engineProcess';
import type { OtherTrace, TraceChange } from '../../protocol/requests/engineRequests';
import type { OpenTrace, SampleWords } from './openTrace';
import { summaryOf, summaryWords, type RecentTraces } from './recentTraces';
import { Refused } from './refused';
import { sessionWords } from './sessionWords';
import { Session, type SessionParts } from './session';
import { SessionList } from './sessionList';
import { closeEnded, type OpenTerminal } from './terminal';

/** For how long the status bar shows that a run was closed. */
const NOTICE_MS = 8_000;

/** The page lists so many recent traces; to open one, all are offered. */
const MOST_RECENT = 10;

const begunMs = ({ facts }: Session): number => facts?.info.startRealtimeMs || Infinity;

/** What has just been started first. */
const newestFirst = (all: readonly Session[]): Session[] =>
  all.toReversed().sort((a, b) => (begunMs(a) === begunMs(b) ? 0 : begunMs(b) - begunMs(a)));

/** `9:45 AM`, of another day with that; empty: it is not known. */
function whenBegun(session: Session): string {
  const atMs = begunMs(session);
  const day = new Date(atMs).toDateString() !== new Date().toDateString();
  return atMs === Infinity ? '' : formatWhen(atMs, vscode.env.language, { day });
}

/** The sessions of this window, and which one is shown. */
export class Sessions implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<TraceChange>();
  private readonly changedShown = new vscode.EventEmitter<TraceChange>();
  private readonly changedBeside = new vscode.EventEmitter<TraceChange>();
  /** Any session changed, or another one is shown. */
  readonly onDidChange = this.changed.event;
  /** The same, once the pages show it. */
  readonly onDidChangeBeside = this.changedBeside.event;
  readonly beside = new BesidePages(change => this.changedBeside.fire(change));
  /** Something in `view` changed. */
  readonly onDidChangeShown = this.changedShown.event;
  private readonly list = new SessionList<Session>(isUnread, beforeOf);
  private readonly parts: SessionParts;
  private outline = '';
  private remembered = '';
  /** Which run was closed just now, in a sentence. */
  private closed = '';
  /** What the window before left is not all here yet. */
  private resuming = false;

  constructor(
    dist: string,
    engine: EngineProcess,
    log: vscode.LogOutputChannel,
    private readonly memory: vscode.Memento,
    readonly recent: RecentTraces,
  ) {
    recent.onDidChange(() => this.shown === null && this.notify());
    this.parts = { dist, engine, log, recorder: new Recorder(dist, engine, log) };
  }

  get all(): readonly Session[] {
    return this.list.all;
  }
  get shown(): Session | null {
    return this.list.shown;
  }

  view(): Omit<SessionView, 'canWiden'> {
    const { shown } = this;
    if (shown === null) {
      const closed = this.closed === '' ? {} : { closed: this.closed };
      return { ...NO_SESSION, ...closed, recent: this.recentEntries(), trusted: vscode.workspace.isTrusted };
    }
    const sessions = newestFirst(this.all).map(session => ({
      id: session.id,
      title: this.titleOf(session),
      status: [whenBegun(session), sessionWords(session, vscode.l10n.t)].filter(Boolean).join(' · '),
    }));
    const before = beforeOf(shown, this.all);
    const newer = newerRun(shown, this.all);
    return { ...shown.view(), sessions, ...(before && { before: before.id }), ...(newer && { newer: newer.id }) };
  }

  /** Starts a program, in a terminal of its own unless `open` does it otherwise. Rejects with a sentence, which the session shows as well. */
  async start(plan: LaunchPlan, open?: OpenTerminal): Promise<void> {
    refuseUntrusted();
    await this.add(plan.title).launch(plan, open);
  }

  /** Traces a process that runs already. Rejects with a sentence, which the session shows as well. */
  async attach(target: ProcessFacts): Promise<void> {
    refuseUntrusted();
    await this.add(scriptName(target.command)).attach(target);
  }

  /** Shows why nothing was started, and what can be done. */
  fail(title: string, sentence: string, offers: readonly Button[]): void {
    this.add(title).fail(sentence, offers);
  }

  /** A title of its own. */
  titleOf(session: Session): string {
    return this.list.titleOf(session);
  }

  /** The sessions that can be compared. */
  traces(): OtherTrace[] {
    return this.all.flatMap(session => {
      const number = this.list.runOf(session);
      const run = (number > 1 || this.list.alike(session).length > 1) && { run: number };
      const { id: trace, title, hasAllocations } = session;
      return hasAllocations ? [{ trace, title, ...run, status: sessionWords(session, vscode.l10n.t) }] : [];
    });
  }

  /** Shows a saved trace, or only opens it; its number. `sample`: it is the one that came with the extension. Rejects with a sentence. */
  async open(file: string, show = true, sample?: SampleWords): Promise<number> {
    const session = new Session(sample?.title ?? traceTitle(file), this.parts);
    try {
      const { read } = await session.openFile(file, sample);
      session.file = file;
      await read;
      session.offerAgain();
    } catch (error) {
      session.dispose();
      throw error;
    }
    this.adopt(session, show);
    this.noteRecent(session, file);
    return session.id;
  }

  /** Continues with the programs that were traced when the window went. */
  async resume(): Promise<void> {
    this.resuming = true;
    for (const remembered of this.memory.get<Remembered[]>(RUNNING_SESSIONS, [])) await this.resumeOne(remembered);
    this.resuming = false;
    this.remember();
  }

  /** Follows the traces that were announced in a folder; true: one begins. */
  async takeAnnounced(folder: string): Promise<boolean> {
    let begins = false;
    for (const [directory, terminal, file] of takeAnnounced(folder)) {
      const known = this.all.find(session => session.recordedIn === directory);
      const facts = readSession(directory);
      if (file !== null) await known?.continueFrom(file);
      else if (known === undefined && facts !== null) {
        begins = true;
        await this.resumeOne({ directory, title: scriptName(facts.command), terminal, byCommand: true });
      }
    }
    return begins;
  }

  private async resumeOne(remembered: Remembered): Promise<void> {
    const session = new Session(remembered.title, this.parts);
    try {
      if (await session.resume(remembered)) return this.adopt(session);
    } catch (error) {
      this.parts.log.error(`${remembered.directory} could not be read: ${reasonOf(error)}`);
    }
    session.dispose();
  }

  show(id: number): void {
    if (this.list.show(id)) this.notify();
  }

  /** Takes a session that ended from the list; its trace is kept in the cache. Throws a sentence while it runs. */
  close(id: number): void {
    const session = this.all.find(other => other.id === id);
    if (session === undefined) return;
    if (session.running) throw new Refused(vscode.l10n.t('{0} is running. Stop it before closing.', session.title));
    this.list.remove(session);
    if (session.file !== null) this.noteRecent(session, session.file);
    this.notifyClosed(vscode.l10n.t('{0} was closed.', session.title), whereKept(session.file));
    if (session.file !== null) this.parts.log.info(session.file);
    closeEnded({ directory: session.recordedIn });
    session.dispose();
    this.notify();
  }

  /** Remembers an ended trace that lies in a file among the recent ones. */
  noteRecent(trace: OpenTrace, file: string): void {
    if (trace.facts !== null && trace.phase === 'ended' && !trace.isSample)
      this.recent.note({
        ...summaryOf(file, trace.facts.info),
        leaks: trace.leaks,
        others: trace.others,
        ...(trace.crashed && { failed: true }),
        ...(trace.stopped && { stopped: true }),
      });
  }

  private recentEntries(): RecentEntry[] {
    return this.recent.all.slice(0, MOST_RECENT).map(trace => ({
      file: trace.file,
      title: trace.title,
      words: summaryWords(trace),
    }));
  }

  private add(title: string): Session {
    const session = new Session(title, this.parts);
    this.adopt(session);
    return session;
  }

  private adopt(session: Session, show = true): void {
    this.discard(this.list.add(session, show));
    if (show) this.closed = '';
    session.onDidChange(change => this.onTraceChange(session, change));
    session.onDidChangeBeside(() => this.fire('events'));
    this.notify();
  }

  /** What makes room for others; its trace is kept. */
  private discard(sessions: readonly Session[]): void {
    for (const gone of sessions) {
      if (gone.file !== null) {
        this.parts.log.info(`${gone.title}, an older run, was closed. ${whereKept(gone.file)} ${gone.file}`);
        const sentence = vscode.l10n.t('{0}, an older run, was closed. Open trace… reopens it.', gone.title);
        vscode.window.setStatusBarMessage(sentence, NOTICE_MS);
      }
      gone.dispose();
    }
  }

  /**
   * The status bar, which cuts what is long, for a while; and an empty page as long as it is there: to go would move the list below under the
   * pointer. `kept`: where its trace is; empty: there is none.
   */
  private notifyClosed(closed: string, kept: string): void {
    this.closed = `${closed} ${kept}`.trimEnd();
    const listed = kept === '' ? '' : vscode.l10n.t('Open trace… reopens it.');
    vscode.window.setStatusBarMessage(`${closed} ${listed}`.trimEnd(), NOTICE_MS);
    this.parts.log.info(this.closed);
  }

  private onTraceChange(session: Session, change: TraceChange): void {
    if (change === 'events') {
      if (session === this.shown) this.changedShown.fire(change);
      return this.fire(change);
    }
    this.discard(this.list.trim());
    const outline = this.all.map(({ id, phase }) => `${id} ${phase}`).join();
    if (session === this.shown || outline !== this.outline) this.changedShown.fire('state');
    this.outline = outline;
    if (session.file !== null) this.noteRecent(session, session.file);
    this.remember();
    this.fire('state');
  }

  private notify(): void {
    this.remember();
    this.changedShown.fire('state');
    this.fire('state');
  }

  /** Once the pages were notified. */
  private fire(change: TraceChange): void {
    this.changed.fire(change);
    this.beside.changed(change);
  }

  private remember(): void {
    const running = this.all.flatMap(({ remembered }) => remembered ?? []);
    const text = JSON.stringify(running);
    if (text === this.remembered || this.resuming) return;
    this.remembered = text;
    void this.memory.update(RUNNING_SESSIONS, running);
  }

  /** Programs that run continue; the next window finds them. */
  dispose(): void {
    for (const session of this.all) session.dispose();
    this.beside.dispose();
    this.changed.dispose();
    this.changedBeside.dispose();
    this.changedShown.dispose();
  }
}

/** What a session is compared with; null: nothing, or it is the trace of a file. */
const beforeOf = (session: Session, all: readonly Session[]): Session | null =>
  session.recorded ? runBefore(session, all) : null;

/** Of a trace that was closed; empty: there is none. */
function whereKept(file: string | null): string {
  if (file === null) return '';
  const { t } = vscode.l10n;
  return dirname(dirname(file)) === keptTracesRoot(process.env)
    ? t('The {0} newest traces of each folder are kept, up to {1} GiB in total.', KEPT, KEPT_BYTES / 1024 ** 3)
    : t('Its trace is saved as {0}.', basename(file));
}

/** Throws a sentence in a workspace that is not trusted. */
export function refuseUntrusted(): void {
  if (!vscode.workspace.isTrusted)
    throw new Refused(vscode.l10n.t('Trust this workspace first. Tracing runs its code.'));
}
