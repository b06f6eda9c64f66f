import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { commandLine, explain } from '../capture/attachTarget';
import { traceVariables, type Environment } from '../capture/environment';
import { keptTracesFolder, traceRoots } from '../capture/folders';
import { keptTraceFile, pruneKeptTraces, scriptName } from '../capture/keptTraces';
import type { LaunchPlan } from '../capture/launchConfiguration';
import { cuptiCandidates, interpreterOf } from '../capture/machine';
import type { Advice } from '../capture/privileges';
import { workingFolder, type ProcessFacts } from '../capture/processes';
import { writeSession, type SessionFile } from '../capture/sessionFile';
import { settleDirectory, settleLogs } from '../capture/settle';
import { injectionProblem, simulatorProblem } from '../capture/simulator';
import { askForSurvey } from '../capture/survey';
import {
  createTraceDirectory,
  logBudget,
  reasonOf,
  removeTraceDirectory,
  type TraceDirectory,
} from '../capture/traceDirectory';
import { Tracer, tracerMissing, tracerProgram } from '../capture/tracer';
import { loadNative, type NativeAddon } from '../engine/addon';
import { TraceSession } from '../engine/session';
import type { SessionView } from '../protocol/messages';
import { AttachedRecording, LaunchedRecording, type Recording, type RecordingEnd } from './recording';
import { openSaved, savedView } from './savedTrace';
import { inheritedEnvironment, openTerminal } from './terminal';

/** One sentence that a user can act on. */
export class Refused extends Error {}

/** A sentence with a line to type. */
export class RefusedWithCommand extends Refused {
  constructor(
    sentence: string,
    readonly command: string,
  ) {
    super(sentence);
  }
}

const POLL_MS = 200;
const STRAGGLER_MS = 1_000;

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
  /** The program that is traced ran before, and goes on afterwards. */
  get attached(): boolean {
    return this.recording instanceof AttachedRecording;
  }
  /** Folder that relative file names of the trace count from. */
  get cwd(): string {
    const cwd = this.trace?.native.info().session.cwd;
    return typeof cwd === 'string' ? cwd : '/';
  }

  view(): SessionView {
    const info = this.trace?.native.info() ?? null;
    const simulated = this.state.simulated || (info?.processes.some(process => process.simulated) ?? false);
    return { ...this.state, simulated, trusted: vscode.workspace.isTrusted, info };
  }

  /** Starts a program in a terminal of its own. Rejects with a sentence, which the panel shows as well. */
  async start(plan: LaunchPlan, simulated: boolean): Promise<void> {
    this.begin({ title: plan.title, simulated, detail: vscode.l10n.t('Starting the program…') });
    try {
      this.recording = this.launch(plan, simulated);
      const detail = vscode.l10n.t('Waiting for the first CUDA call…');
      this.set({ ...this.state, detail, recording: true });
      this.timer = setInterval(() => void this.watch(), POLL_MS);
    } catch (error) {
      this.fail(plan.title, reasonOf(error));
      throw error;
    }
  }

  /** Traces a process that runs already. Rejects with a sentence, which the panel shows as well. */
  async attach(target: ProcessFacts): Promise<void> {
    const title = scriptName(target.command);
    this.begin({ title, attached: true, detail: vscode.l10n.t('Attaching to process {0}…', target.pid) });
    try {
      const recording = await this.placeProbes(target);
      this.recording = recording;
      this.changed.fire();
      const ready = await recording.tracer.ready;
      if (this.recording !== recording) return;
      if (ready.type === 'error' && recording.detaching) {
        this.clear();
        this.changed.fire();
        return;
      }
      if (ready.type === 'error') throw refusal(explain(ready, this.dist, sudoWords(this.dist, target.pid)));
      this.log.info(
        `attached to ${target.pid} by ${ready.how}, ${ready.probes} probes, trace in ${recording.directory}`,
      );
      const detail = vscode.l10n.t('Attached. Waiting for its next allocation…');
      this.set({ ...this.state, phase: 'running', detail, recording: true });
      this.timer = setInterval(() => void this.watch(), POLL_MS);
    } catch (error) {
      this.fail(title, error instanceof RefusedWithCommand ? `${error.message} ${error.command}` : reasonOf(error));
      throw error;
    }
  }

  private begin(state: Partial<SessionView> & { title: string; detail: string }): void {
    if (!vscode.workspace.isTrusted)
      throw new Refused(vscode.l10n.t('Nothing starts in a workspace that is not trusted.'));
    if (this.running) throw new Refused(vscode.l10n.t('A program is traced already: stop it first.'));
    this.clear();
    this.set({ ...emptyState(), phase: 'starting', ...state });
  }

  /** Shows why nothing was started. */
  fail(title: string, sentence: string): void {
    this.clear();
    this.set({ ...emptyState(), phase: 'failed', title, detail: sentence });
  }

  private launch(plan: LaunchPlan, simulated: boolean): Recording {
    const problem = injectionProblem(this.dist) ?? (simulated ? simulatorProblem(this.dist) : null);
    if (problem !== null) throw new Refused(problem);
    const environment = { ...inheritedEnvironment(), ...plan.environment };
    const { command, cwd } = plan;
    const { addon, facts, made } = this.prepare(environment, { command, cwd, simulated, backend: 'inject' });
    askForSurvey(made.path, false);
    const variables = traceVariables(environment, {
      dist: this.dist,
      traceDirectory: made.path,
      simulated,
      cupti: cuptiOf(plan, environment),
      budgetBytes: logBudget(environment, made.freeBytes),
    });
    this.log.info(`starts ${JSON.stringify(command)} in ${cwd}, trace in ${made.path}`);
    return new LaunchedRecording(made.path, addon, facts, openTerminal(plan, made.path, variables));
  }

  private async placeProbes({ pid, command }: ProcessFacts): Promise<AttachedRecording> {
    const missing = tracerMissing(this.dist);
    if (missing !== null) throw new Refused(missing.message);
    const { addon, facts, made } = this.prepare(process.env, {
      command,
      cwd: await workingFolder(pid),
      simulated: false,
      backend: 'uprobe',
      attached: { pid, realtimeMs: Date.now() },
    });
    facts.processes = [{ pid, exitCode: null }];
    writeSession(made.path, facts);
    const tracer = new Tracer({
      program: tracerProgram(this.dist),
      pid,
      directory: made.path,
      waitLibraries: false,
      stacks: 'python',
      ringBytes: null,
      budgetBytes: logBudget(process.env, made.freeBytes),
    });
    return new AttachedRecording(made.path, addon, facts, tracer, this.log);
  }

  /** Makes the trace directory and follows it. */
  private prepare(
    environment: Environment,
    about: Omit<SessionFile, 'version' | 'startedRealtimeMs' | 'processes'>,
  ): { addon: NativeAddon; facts: SessionFile; made: TraceDirectory } {
    const addon = this.addon();
    const uid = process.getuid?.() ?? 0;
    const made = createTraceDirectory(traceRoots(environment, uid), uid);
    if ('error' in made) throw new Refused(made.error);
    if (made.note !== null) this.log.warn(made.note);
    this.directory = made.path;
    const facts: SessionFile = { version: 1, ...about, startedRealtimeMs: Date.now(), processes: [] };
    writeSession(made.path, facts);
    addon.setRecording(made.path, true);
    this.follow(new TraceSession(addon, made.path));
    return { addon, facts, made };
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

  /** Looks whether the program, or the tracing of it, ended. */
  private async watch(): Promise<void> {
    const recording = this.recording;
    const end = recording?.end() ?? null;
    if (recording === null || end === null) return;
    const settle = this.attached ? settleLogs : settleDirectory;
    this.recording = null;
    clearInterval(this.timer);
    try {
      writeSession(recording.directory, recording.facts);
      if (this.trace !== null) await settle(this.trace.native, recording.directory, STRAGGLER_MS);
    } catch (error) {
      this.log.error(reasonOf(error));
    }
    this.showEnd(end);
    await this.keep(recording);
  }

  private showEnd(end: RecordingEnd): void {
    const used = (this.trace?.native.info().processes.length ?? 0) > 0;
    this.set({
      ...this.state,
      phase: end.failed && !used ? 'failed' : 'ended',
      recording: false,
      exitCode: end.exitCode,
      detail: end.sentence(used),
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

  /** Ends the program; one that was attached to goes on, and only the tracing ends. */
  stop(): void {
    this.recording?.stop();
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
    this.recording?.show();
  }

  private set(state: Omit<SessionView, 'info' | 'trusted'>): void {
    this.state = state;
    this.changed.fire();
  }

  private clear(): void {
    clearInterval(this.timer);
    this.trace?.close();
    this.trace = null;
    if (this.attached) this.recording?.stop();
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

/** The command that attaches to a process, for root. */
export function sudoWords(dist: string, pid: number): string[] {
  return [...commandLine(dist), 'attach', String(pid)];
}

/** The refusal as an error, with the line to type where there is one. */
export function refusal({ sentence, command }: Advice): Refused {
  return command === null ? new Refused(sentence) : new RefusedWithCommand(sentence, command);
}
