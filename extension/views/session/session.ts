import * as vscode from 'vscode';
import { explain } from '../../capture/checks/attachTarget';
import type { HolderTime } from '../../capture/checks/survey';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { settle } from '../../capture/launch/settle';
import type { ProcessFacts } from '../../capture/processes/processes';
import { readPid } from '../../capture/launch/terminalScript';
import { watchForCpu } from '../../capture/processes/cpuReason';
import { keptTracesFolder } from '../../capture/traces/folders';
import { keptTraceFile, pruneKeptTraces } from '../../capture/traces/keptTraces';
import { addMark, recordProcesses } from '../../capture/traces/sessionFile';
import { reasonOf, removeTraceDirectory } from '../../capture/traces/traceDirectory';
import { TraceSession } from '../../engine/session';
import { cpuText, type CpuReason } from '../../protocol/cpuReason';
import { holderTime, type Recorder, type Remembered } from './beginRecording';
import { writeOomFiles } from './oomFiles';
import { OpenTrace } from './openTrace';
import type { Recording, RecordingEnd } from './recording';
import { Refused, sudoWords } from './refused';
import type { OpenTerminal } from './terminal';

export interface SessionParts {
  dist: string;
  recorder: Recorder;
  log: vscode.LogOutputChannel;
}

const WATCH_MS = 200;
const STRAGGLER_MS = 1_000;

/** The trace of a program that runs or ran, or of a file. */
export class Session extends OpenTrace {
  private recording: Recording | null = null;
  /** Of the trace; null for that of a file. */
  private directory: string | null = null;
  private terminal: number | null = null;
  /** The file that the trace lies in once its program ended; null: there is none. */
  file: string | null = null;
  private timer: NodeJS.Timeout | undefined;
  private cpu: CpuReason | null = null;
  private stopLooking: () => void = () => undefined;
  private gone = false;
  /** The user ended it. */
  private stopped = false;
  private holders: HolderTime = 'never';

  constructor(
    id: number,
    title: string,
    private readonly parts: SessionParts,
  ) {
    super(id, title);
  }

  get running(): boolean {
    return this.recording !== null;
  }
  get failed(): boolean {
    return this.state.phase === 'failed';
  }
  /** The program that is traced ran before, and goes on afterwards. */
  get attached(): boolean {
    return this.recording?.attached ?? false;
  }
  get recordingOn(): boolean {
    return this.state.recording;
  }
  /** What finds this session again after the window was reloaded; null: nothing runs. */
  get remembered(): Remembered | null {
    const { recording, terminal, title } = this;
    return recording === null ? null : { directory: recording.directory, title, terminal };
  }

  /** Starts a program, in a terminal of its own unless `open` does it otherwise. Rejects with a sentence, which the session shows as well. */
  async launch(plan: LaunchPlan, open?: OpenTerminal): Promise<void> {
    this.set({ detail: vscode.l10n.t('Starting the program…') });
    try {
      const recording = this.parts.recorder.launch(plan, open);
      this.set({ detail: vscode.l10n.t('Waiting for the first CUDA call…'), recording: true });
      this.record(recording);
      this.terminal = (await recording.terminal.pid) ?? null;
      this.changed.fire('state');
    } catch (error) {
      this.fail(reasonOf(error));
      throw error;
    }
  }

  /** Traces a process that runs already. Rejects with a sentence, which the session shows as well. */
  async attach(target: ProcessFacts): Promise<void> {
    this.set({ attached: true, detail: vscode.l10n.t('Attaching to process {0}…', target.pid) });
    try {
      const recording = await this.parts.recorder.attach(target);
      this.open(recording);
      this.changed.fire('state');
      const ready = await recording.tracer.ready;
      if (this.recording !== recording) return;
      if (ready.type === 'error') {
        if (recording.detaching) return this.fail(vscode.l10n.t('Detached before it was attached.'));
        const { dist } = this.parts;
        const { sentence, command } = explain(ready, dist, sudoWords(dist, target.pid));
        throw new Refused(sentence, command);
      }
      const how = `by ${ready.how}, ${ready.probes} probes, trace in ${recording.directory}`;
      this.parts.log.info(`attached to ${target.pid} ${how}`);
      this.watchFromNow();
      const detail = vscode.l10n.t('Attached. Waiting for its next allocation…');
      this.set({ phase: 'running', detail, recording: true });
    } catch (error) {
      const command = error instanceof Refused ? error.command : null;
      this.fail(command === null ? reasonOf(error) : `${reasonOf(error)} ${command}`);
      throw error;
    }
  }

  /** Goes on with what a window left behind; false where nothing of it is there any more. */
  resume(remembered: Remembered): boolean {
    const recording = this.parts.recorder.resume(remembered);
    if (recording === null) return false;
    this.terminal = remembered.terminal;
    this.record(recording);
    const processes = this.trace?.native.info().processes ?? [];
    this.set({
      detail: vscode.l10n.t('Reading what it recorded meanwhile…'),
      recording: processes.length === 0 || processes.some(process => process.recording),
      ...(recording.attached ? { attached: true } : {}),
    });
    return true;
  }

  /** Ends the program; one that was attached to goes on, and only the tracing ends. */
  stop(): void {
    this.stopped = true;
    this.recording?.stop();
  }

  /** A debugger holds its program, or lets it go. */
  stand(standsStill: boolean): void {
    this.set({ standsStill });
  }

  setRecording(on: boolean): void {
    if (this.recording === null) throw new Refused(vscode.l10n.t('No program is running.'));
    this.recording.addon.setRecording(this.recording.directory, on);
    this.set({ recording: on });
  }

  /** Time of the session, ns. Throws a sentence where nothing is recorded now. */
  now(): number {
    const info = this.trace?.native.info();
    if (this.recording === null || info === undefined || info.processes.length === 0) {
      throw new Refused(vscode.l10n.t('There is nothing to mark: no program is being traced.'));
    }
    return Math.max(0, Math.round((Date.now() - info.startRealtimeMs) * 1e6));
  }

  /** Gives a moment of the running program a name. */
  mark(name: string, timeNs: number): void {
    if (this.directory === null || !addMark(this.directory, { name, timeNs })) {
      throw new Refused(vscode.l10n.t('The mark could not be kept: the trace is gone.'));
    }
    this.changed.fire('state');
  }

  /** Writes all that was recorded until now. Rejects with a sentence. */
  async save(file: string): Promise<void> {
    if (this.trace === null) throw new Refused(vscode.l10n.t('There is no trace to save.'));
    await this.trace.native.settle();
    await this.trace.native.save(file, '');
  }

  private record(recording: Recording): void {
    this.open(recording);
    if (!recording.attached) this.holders = holderTime();
    if (this.holders === 'onFirstLeak') this.verdicts?.askOnFirstLeak(this.parts.log);
    if (!recording.attached) this.lookForCpu(recording);
    this.watchFromNow();
  }

  /** Says why a program uses no GPU, as soon as that is known. */
  private lookForCpu({ directory }: Recording): void {
    const used = (): boolean => (this.trace?.native.info().processes.length ?? 0) > 0;
    this.stopLooking = watchForCpu(
      () => readPid(directory),
      used,
      reason => {
        this.cpu = reason;
        this.set({ detail: cpuText(reason, true, vscode.l10n.t), onCpu: true });
      },
    );
  }

  private open(recording: Recording): void {
    this.directory = recording.directory;
    this.recording = recording;
    this.follow(new TraceSession(recording.addon, recording.directory), recording.directory);
  }

  private watchFromNow(): void {
    this.timer = setInterval(() => void this.watch(), WATCH_MS);
  }

  protected override progress(): void {
    if (this.recording && this.phase === 'starting' && (this.trace?.native.info().processes.length ?? 0) > 0) {
      return this.set({ phase: 'running', detail: '', onCpu: false });
    }
    super.progress();
  }

  /** Looks whether the program, or the tracing of it, ended. */
  private async watch(): Promise<void> {
    const { recording } = this;
    const end = recording?.end() ?? null;
    if (recording === null) return;
    if (end === null) return this.judgeNow();
    this.recording = null;
    clearInterval(this.timer);
    this.stopLooking();
    try {
      recordProcesses(recording.directory, recording.facts);
      const { attached, directory } = recording;
      if (this.trace !== null) await settle(this.trace.native, directory, STRAGGLER_MS, attached);
    } catch (error) {
      if (!this.gone) this.parts.log.error(reasonOf(error));
    }
    if (this.gone) return;
    this.showEnd(end);
    await this.showEnding();
    await this.keepTrace(recording);
  }

  /** Leaks are found, and asked about, without a page as well. */
  private async judgeNow(): Promise<void> {
    if (this.holders !== 'onFirstLeak') return;
    await this.verdicts?.verdictsNow().catch(() => undefined); // the trace was closed
  }

  private showEnd(end: RecordingEnd): void {
    const used = (this.trace?.native.info().processes.length ?? 0) > 0;
    this.set({
      phase: end.failed && !used ? 'failed' : 'ended',
      recording: false,
      exitCode: end.exitCode,
      crashed: !this.stopped && end.exitCode !== null && end.exitCode !== 0,
      noInterpreter: end.failed && !used,
      detail: end.sentence(used, this.cpu),
    });
  }

  private async showEnding(): Promise<void> {
    try {
      await this.findEnding(true);
      if (this.ending !== null) this.changed.fire('state');
    } catch (error) {
      this.parts.log.warn(reasonOf(error)); // the end itself is shown
    }
  }

  /** Keeps the trace in the cache, as the command line does. */
  private async keepTrace(recording: Recording): Promise<void> {
    if (this.trace === null || this.trace.native.info().processes.length === 0) return;
    try {
      const folder = keptTracesFolder(process.env);
      const file = keptTraceFile(folder, recording.facts.command, new Date());
      await this.trace.native.save(file, '');
      pruneKeptTraces(folder);
      this.file = file;
      this.parts.log.info(`trace kept in ${file}`);
      if (this.verdicts !== null) await writeOomFiles(folder, this.trace, (await this.verdicts.verdictsNow()).verdicts);
    } catch (error) {
      this.parts.log.error(`the trace could not be kept: ${reasonOf(error)}`);
    }
  }

  /** Gives up the trace; what was recorded is deleted. */
  protected override drop(): void {
    clearInterval(this.timer);
    this.stopLooking();
    super.drop();
    if (this.attached) this.recording?.stop();
    this.recording = null;
    if (this.directory !== null) removeTraceDirectory(this.directory);
    this.directory = null;
  }

  /** A program that runs goes on, and so does its trace directory: the next window finds both. */
  override dispose(): void {
    this.gone = true;
    if (this.recording !== null) {
      this.recording.leave();
      this.directory = null;
      this.recording = null;
    }
    super.dispose();
  }
}
