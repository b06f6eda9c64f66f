import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { traceVariables, type Environment } from '../capture/environment';
import { keptTracesFolder, traceRoots } from '../capture/folders';
import { keptTraceFile, pruneKeptTraces } from '../capture/keptTraces';
import type { LaunchPlan } from '../capture/launchConfiguration';
import { signalName } from '../capture/launch';
import { cuptiCandidates, interpreterOf } from '../capture/machine';
import { writeSession, type SessionFile } from '../capture/sessionFile';
import { settleDirectory } from '../capture/settle';
import { injectionProblem, simulatorProblem } from '../capture/simulator';
import { readPid, readStatus } from '../capture/terminalScript';
import { createTraceDirectory, logBudget, reasonOf, removeTraceDirectory } from '../capture/traceDirectory';
import { loadNative, type NativeAddon } from '../engine/addon';
import { TraceSession } from '../engine/session';
import type { SessionView } from '../protocol/messages';
import { openSaved, savedView } from './savedTrace';
import { inheritedEnvironment, openTerminal, type ProgramTerminal } from './terminal';

/** One sentence that a user can act on. */
export class Refused extends Error {}

interface Recording {
  directory: string;
  addon: NativeAddon;
  terminal: ProgramTerminal;
  facts: SessionFile;
}

const POLL_MS = 200;
const STRAGGLER_MS = 1_000;
const STOP_GRACE_MS = 5_000;

/** The one trace that the side panel shows: starts it, follows it, ends it. */
export class TraceController implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Something in `view` changed. */
  readonly onDidChange = this.changed.event;
  private state: Omit<SessionView, 'info' | 'trusted'> = emptyState();
  private trace: TraceSession | null = null;
  private recording: Recording | null = null;
  private directory: string | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dist: string,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get session(): TraceSession | null {
    return this.trace;
  }
  get running(): boolean {
    return this.recording !== null;
  }
  /** Folder that relative file names of the trace count from. */
  get cwd(): string {
    const cwd = this.trace?.native.info().session.cwd;
    return typeof cwd === 'string' ? cwd : '/';
  }

  view(): SessionView {
    return { ...this.state, trusted: vscode.workspace.isTrusted, info: this.trace?.native.info() ?? null };
  }

  /** Starts a program in a terminal of its own. Rejects with a sentence, which the panel shows as well. */
  async start(plan: LaunchPlan, simulated: boolean): Promise<void> {
    if (!vscode.workspace.isTrusted)
      throw new Refused(vscode.l10n.t('Nothing starts in a workspace that is not trusted.'));
    if (this.running) throw new Refused(vscode.l10n.t('A program is traced already: stop it first.'));
    this.clear();
    this.set({
      ...emptyState(),
      phase: 'starting',
      title: plan.title,
      simulated,
      detail: vscode.l10n.t('Starting the program…'),
    });
    try {
      this.recording = this.record(plan, simulated);
      const detail = vscode.l10n.t('Waiting for the first CUDA call…');
      this.set({ ...this.state, detail, recording: true });
      this.timer = setInterval(() => void this.watch(), POLL_MS);
    } catch (error) {
      this.fail(plan.title, reasonOf(error));
      throw error;
    }
  }

  /** Shows why nothing was started. */
  fail(title: string, sentence: string): void {
    this.clear();
    this.set({ ...emptyState(), phase: 'failed', title, detail: sentence });
  }

  private record(plan: LaunchPlan, simulated: boolean): Recording {
    const problem = injectionProblem(this.dist) ?? (simulated ? simulatorProblem(this.dist) : null);
    if (problem !== null) throw new Refused(problem);
    const addon = this.addon();
    const environment = { ...inheritedEnvironment(), ...plan.environment };
    const uid = process.getuid?.() ?? 0;
    const made = createTraceDirectory(traceRoots(environment, uid), uid);
    if ('error' in made) throw new Refused(made.error);
    if (made.note !== null) this.log.warn(made.note);
    this.directory = made.path;
    const facts: SessionFile = {
      version: 1,
      command: plan.command,
      cwd: plan.cwd,
      startedRealtimeMs: Date.now(),
      simulated,
      backend: 'inject',
      processes: [],
    };
    writeSession(made.path, facts);
    addon.setRecording(made.path, true);
    this.follow(new TraceSession(addon.open(made.path)));
    const variables = traceVariables(environment, {
      dist: this.dist,
      traceDirectory: made.path,
      simulated,
      cupti: cuptiOf(plan, environment),
      budgetBytes: logBudget(environment, made.freeBytes),
    });
    this.log.info(`starts ${JSON.stringify(plan.command)} in ${plan.cwd}, trace in ${made.path}`);
    return { directory: made.path, addon, facts, terminal: openTerminal(plan, made.path, variables) };
  }

  private addon(): NativeAddon {
    const loaded = loadNative(this.dist);
    if ('error' in loaded) throw new Refused(loaded.error);
    return loaded.addon;
  }

  private follow(trace: TraceSession): void {
    this.trace = trace;
    trace.onChange(() => this.progress());
    trace.follow(POLL_MS);
  }

  private progress(): void {
    if (this.state.phase === 'starting' && (this.trace?.native.info().processes.length ?? 0) > 0) {
      this.state = { ...this.state, phase: 'running', detail: '' };
    }
    this.changed.fire();
  }

  /** Looks whether the program ended. */
  private async watch(): Promise<void> {
    const recording = this.recording;
    if (recording === null) return;
    const status = readStatus(recording.directory);
    if (status === null && !recording.terminal.closed()) return;
    this.recording = null;
    clearInterval(this.timer);
    const pid = readPid(recording.directory);
    recording.facts.processes = pid === null ? [] : [{ pid, exitCode: status }];
    try {
      writeSession(recording.directory, recording.facts);
      if (this.trace !== null) await settleDirectory(this.trace.native, recording.directory, STRAGGLER_MS);
    } catch (error) {
      this.log.error(reasonOf(error));
    }
    this.showEnd(recording, status);
    await this.keep(recording);
  }

  private showEnd(recording: Recording, status: number | null): void {
    const { facts } = recording;
    const used = (this.trace?.native.info().processes.length ?? 0) > 0;
    const started = status !== 126 && status !== 127;
    this.set({
      ...this.state,
      phase: started || used ? 'ended' : 'failed',
      recording: false,
      exitCode: status,
      detail: endSentence(facts.command[0] ?? '', status, used),
    });
  }

  /** Keeps the trace in the cache, as the command line does. */
  private async keep(recording: Recording): Promise<void> {
    if (this.trace === null || this.trace.native.info().processes.length === 0) return;
    try {
      const folder = keptTracesFolder(process.env);
      const file = keptTraceFile(folder, recording.facts.command, new Date());
      await this.trace.native.save(file, JSON.stringify(recording.facts));
      pruneKeptTraces(folder);
      this.log.info(`trace kept in ${file}`);
    } catch (error) {
      this.log.error(`the trace could not be kept: ${reasonOf(error)}`);
    }
  }

  /** As Ctrl+C in the program's terminal; SIGTERM when it still runs after a while. */
  stop(): void {
    const recording = this.recording;
    if (recording === null) return;
    recording.terminal.interrupt();
    setTimeout(() => {
      const pid = readPid(recording.directory);
      if (this.recording !== recording || pid === null) return;
      try {
        process.kill(pid, 'SIGTERM');
      } catch {
        // It ended in between.
      }
    }, STOP_GRACE_MS);
  }

  setRecording(on: boolean): void {
    if (this.recording === null) throw new Refused(vscode.l10n.t('No program is running.'));
    this.recording.addon.setRecording(this.recording.directory, on);
    this.set({ ...this.state, recording: on });
  }

  /** Shows a saved trace. Rejects with a sentence. */
  async open(file: string): Promise<void> {
    if (this.running) throw new Refused(vscode.l10n.t('A program is traced: stop it before another trace is opened.'));
    const trace = await openSaved(this.dist, file);
    if ('error' in trace) throw new Refused(trace.error);
    this.clear();
    this.follow(trace);
    this.set(savedView(file, trace));
  }

  async save(file: string): Promise<void> {
    if (this.trace === null || this.directory === null)
      throw new Refused(vscode.l10n.t('There is no new trace to save.'));
    await this.trace.native.settle();
    await this.trace.native.save(file, readFileSync(`${this.directory}/session.json`, 'utf8'));
  }

  showTerminal(): void {
    this.recording?.terminal.show();
  }

  private set(state: Omit<SessionView, 'info' | 'trusted'>): void {
    this.state = state;
    this.changed.fire();
  }

  private clear(): void {
    clearInterval(this.timer);
    this.trace?.close();
    this.trace = null;
    this.recording = null;
    if (this.directory !== null) removeTraceDirectory(this.directory);
    this.directory = null;
    this.state = emptyState();
  }

  /** A program that runs goes on, and so does its trace directory. */
  dispose(): void {
    if (this.running) this.directory = null;
    this.clear();
    this.changed.dispose();
  }
}

function emptyState(): Omit<SessionView, 'info' | 'trusted'> {
  return { phase: 'empty', title: '', detail: '', simulated: false, recording: false, exitCode: null };
}

function cuptiOf(plan: LaunchPlan, environment: Environment): string | null {
  const program = interpreterOf(plan.command[0] ?? '', environment, plan.cwd);
  return environment.GPU_MEMTRACE_CUPTI ?? cuptiCandidates(environment, program)[0] ?? null;
}

function endSentence(program: string, status: number | null, used: boolean): string {
  if (status === null) return vscode.l10n.t('Its terminal was closed.');
  if (status === 127) return vscode.l10n.t('{0} was not found.', program);
  if (status === 126) return vscode.l10n.t('{0} cannot be executed.', program);
  const signal = signalName(status);
  const end =
    signal !== null
      ? vscode.l10n.t('The program was ended by {0}.', signal)
      : vscode.l10n.t('The program ended with status {0}.', status);
  return used ? end : `${end} ${vscode.l10n.t('It never used CUDA.')}`;
}
