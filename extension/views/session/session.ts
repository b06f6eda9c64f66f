import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { explain } from '../../capture/checks/attachTarget';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import type { ProcessFacts } from '../../capture/processes/processes';
import { watchForCpu } from '../../capture/processes/cpuReason';
import { addMark, recordProcesses } from '../../capture/traces/sessionFile';
import { readPid } from '../../capture/launch/terminalScript';
import { startOf } from '../../files/tracedProgram';
import { exceptionIn, refusalIn } from '../../capture/launch/pythonException';
import { reasonOf, removeTraceDirectory } from '../../capture/traces/traceDirectory';
import type { EngineProcess } from '../../client/engineProcess';
import { cpuText, type CpuReason } from '../../text/cpuText';
import type { Button } from '../../protocol/requests/sessionRequests';
import { endOf } from '../../protocol/trace';
import { holderTime, type Recorder, type Remembered } from './beginRecording';
import { OpenTrace } from './openTrace';
import type { Recording, RecordingEnd } from './recording';
import { Refused, sudoWords } from './refused';
import type { OpenTerminal } from './terminal';

const IMPORT_FAILED = /^(?:ModuleNotFoundError|ImportError)\b/;

export interface SessionParts {
  dist: string;
  engine: EngineProcess;
  recorder: Recorder;
  log: vscode.LogOutputChannel;
}

/** The trace of a program that runs or ran, or of a file. */
export class Session extends OpenTrace {
  private recording: Recording | null = null;
  /** Of the trace; null for that of a file. */
  private directory: string | null = null;
  /** The command gpu-memtrace records it: the directory is not ours to delete, nor the trace to keep. */
  private byCommand = false;
  private terminal: number | null = null;
  /** The file that the trace lies in once its program ended; null: there is none. */
  file: string | null = null;
  /** What was started; null: it is a file, it ran before, or the window before started it. */
  plan: LaunchPlan | null = null;
  private cpu: CpuReason | null = null;
  private stopCpuWatch: () => void = () => undefined;
  private stopWatching: () => void = () => undefined;
  /** Its end is shown, and its trace kept. */
  private finished: Promise<void> = Promise.resolve();
  private gone = false;
  /** The document on memory that ran out; null: it did not. */
  oomReport: string | null = null;

  constructor(
    title: string,
    private readonly parts: SessionParts,
  ) {
    super(title, parts.engine);
  }

  get running(): boolean {
    return this.recording !== null;
  }
  /** It was started here, and is no file. */
  get recorded(): boolean {
    return this.directory !== null && this.facts?.info.session.attached === undefined;
  }
  get failed(): boolean {
    return this.state.phase === 'failed';
  }
  /** Nothing was recorded, and nothing will be. */
  get empty(): boolean {
    return this.failed || (this.phase === 'ended' && this.recorded && !this.used);
  }
  /** The program that is traced ran before, and continues afterwards. */
  get attached(): boolean {
    return this.recording?.attached ?? false;
  }
  /** It ended with a failure before anything was traced, and its Python is not to blame. */
  get failedAtOnce(): boolean {
    return this.crashed && !this.used && !this.state.offers?.includes('chooseInterpreter');
  }
  get recordingOn(): boolean {
    return this.state.recording;
  }
  /** What finds this session again after the window was reloaded; null: nothing runs. */
  get remembered(): Remembered | null {
    const { recording, terminal, title } = this;
    if (recording === null) return null;
    return { directory: recording.directory, title, terminal, ...(this.byCommand && { byCommand: true as const }) };
  }

  /** Starts a program, in a terminal of its own unless `open` does it otherwise. Rejects with a sentence, which the session shows as well. */
  async launch(plan: LaunchPlan, open?: OpenTerminal): Promise<void> {
    this.plan = plan;
    this.set({ detail: vscode.l10n.t('Starting the program…') });
    try {
      const recording = await this.parts.recorder.launch(plan, open);
      this.set({ detail: vscode.l10n.t('Waiting for the first CUDA call…'), recording: true });
      await this.record(recording);
      this.terminal = (await recording.terminal.pid) ?? null;
      this.changed.fire('state');
    } catch (error) {
      this.fail(reasonOf(error), ['traceAgain']);
      throw error;
    }
  }

  /** Traces a process that runs already. Rejects with a sentence, which the session shows as well. */
  async attach(target: ProcessFacts): Promise<void> {
    this.set({ attached: true, detail: vscode.l10n.t('Attaching to process {0}…', target.pid) });
    try {
      const recording = await this.parts.recorder.attach(target);
      await this.follow(recording);
      this.changed.fire('state');
      const ready = await recording.tracer.ready;
      if (this.recording !== recording) return;
      if (ready.type === 'error') {
        if (recording.detaching) return this.fail(vscode.l10n.t('Detached before attaching was complete.'));
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

  /** Continues with what a window left behind; false where nothing of it is there any more. */
  async resume(remembered: Remembered): Promise<boolean> {
    const recording = this.parts.recorder.resume(remembered);
    if (recording === null) return false;
    this.terminal = remembered.terminal;
    this.byCommand = remembered.byCommand ?? false;
    await this.record(recording);
    const processes = this.facts?.info.processes ?? [];
    const { t } = vscode.l10n;
    this.set({
      detail: this.byCommand ? t('Waiting for the first CUDA call…') : t('Reading the recorded events…'),
      recording: processes.length === 0 || processes.some(process => process.recording),
      ...(recording.attached ? { attached: true } : {}),
    });
    return true;
  }

  /** Where it is or was recorded. */
  get recordedIn(): string | null {
    return this.directory;
  }

  /** Reads the trace on from the file that the command gpu-memtrace saved it as, before it deletes the directory. */
  async continueFrom(file: string): Promise<void> {
    await this.watch();
    if (this.gone) return;
    this.file = file;
    this.directory = null;
    try {
      await this.open({ path: file, directory: null, findsHolders: false });
      await this.request('readToEnd', {});
      if (this.state.offers?.includes('traceAgain') !== true) this.offerAgain();
    } catch (error) {
      this.parts.log.error(`${file} could not be read: ${reasonOf(error)}`);
    }
  }

  /** The program of a saved trace can be started, where the trace has how. */
  offerAgain(): void {
    if (!this.isSample && startOf(this) !== null) this.set({ offers: ['traceAgain'] });
  }

  /** Ends the program; one that was attached to continues, and only the tracing ends. */
  stop(): void {
    this.noteStop();
    this.recording?.stop();
  }

  /** The user ends it, here or in the debugger: how it ends is no failure. */
  noteStop(): void {
    if (this.recording === null) return;
    const detail = this.attached ? vscode.l10n.t('Detaching…') : vscode.l10n.t('Stopping…');
    this.set({ stopped: !this.attached, detail });
  }

  /** A debugger holds its program, or lets it go. */
  setStandsStill(standsStill: boolean): void {
    this.set({ halted: standsStill });
  }

  async setRecording(on: boolean): Promise<void> {
    if (this.recording === null) throw new Refused(vscode.l10n.t('No program is running.'));
    await this.engine.request('setRecording', { directory: this.recording.directory, on });
    this.set({ recording: on });
  }

  /** Time of the session, ns. Throws a sentence where nothing is recorded now. */
  now(): number {
    const info = this.facts?.info;
    if (this.recording === null || info === undefined || info.processes.length === 0) {
      throw new Refused(vscode.l10n.t('No program is being traced, so there is nothing to mark.'));
    }
    return Math.max(0, Math.round((Date.now() - info.startRealtimeMs) * 1e6));
  }

  /** Gives a moment of the running program a name. */
  mark(name: string, timeNs: number): void {
    if (this.directory === null || !addMark(this.directory, { name, timeNs })) {
      throw new Refused(vscode.l10n.t('The marker could not be saved, because the trace was closed.'));
    }
    this.changed.fire('state');
  }

  /** Writes all that was recorded until now. Rejects with a sentence. */
  async save(file: string): Promise<void> {
    if (this.facts === null) throw new Refused(vscode.l10n.t('No trace is open. Open or record one first.'));
    await this.request('save', { file });
  }

  private async record(recording: Recording): Promise<void> {
    await this.follow(recording);
    if (!recording.attached) this.watchCpu(recording);
    this.watchFromNow();
  }

  /** Reports why a program uses no GPU, as soon as that is known. */
  private watchCpu({ directory }: Recording): void {
    const used = (): boolean => this.used;
    this.stopCpuWatch = watchForCpu(
      () => readPid(directory),
      used,
      reason => {
        this.cpu = reason;
        this.set({ detail: cpuText(reason, true, vscode.l10n.t), onCpu: true });
      },
    );
  }

  private async follow(recording: Recording): Promise<void> {
    const { directory, attached } = recording;
    this.directory = directory;
    this.recording = recording;
    const findsHolders = !attached && !this.byCommand && holderTime() === 'onFirstLeak';
    await this.open({ path: directory, directory, findsHolders });
  }

  /** CUDA was. */
  private get used(): boolean {
    return (this.facts?.info.processes.length ?? 0) > 0;
  }

  private watchFromNow(): void {
    this.stopWatching = this.recording?.watch(() => void this.watch()) ?? this.stopWatching;
    void this.watch();
  }

  protected override progress(): void {
    void this.watch();
    if (this.recording && this.phase === 'starting' && this.used) {
      return this.set({ phase: 'running', detail: '', onCpu: false });
    }
    super.progress();
  }

  /** Checks whether the program, or the tracing of it, ended. Resolves when its end, also one that was seen before, is shown and kept. */
  private watch(): Promise<void> {
    const { recording } = this;
    const end = recording?.end() ?? null;
    if (recording !== null && end !== null) {
      this.recording = null;
      this.stopWatching();
      this.stopCpuWatch();
      this.finished = this.finish(recording, end);
    }
    return this.finished;
  }

  private async finish(recording: Recording, end: RecordingEnd): Promise<void> {
    try {
      recordProcesses(recording.directory, recording.facts);
      await this.request('readRest', { attached: recording.attached });
    } catch (error) {
      if (!this.gone) this.parts.log.error(reasonOf(error));
    }
    if (this.gone) return;
    await this.findEnding(); // first: an end at which all is freed is never seen
    if (this.gone) return;
    await this.showEnd(end, recording);
    if (this.gone) return;
    await this.keepTrace(recording);
  }

  private async showEnd(end: RecordingEnd, recording: Recording): Promise<void> {
    const { used, cpu } = this;
    const { exitCode } = end;
    const ended = endOf(exitCode, this.state.stopped);
    const { stopped, crashed } = ended;
    // Its card has the reason.
    const ranOut = crashed && used && (await this.judged()).some(({ failure }) => failure !== undefined);
    const output = crashed && !ranOut && (exitCode === 1 || exitCode === 2) ? await recording.lastOutput() : '';
    const exception = exitCode === 1 ? exceptionIn(output) : null;
    const refusal = exitCode === 2 && !used ? refusalIn(output) : null;
    const notRun = end.failed && !used;
    const { t } = vscode.l10n;
    const [python = ''] = recording.facts.command;
    const ran =
      refusal !== null
        ? t('The program failed: it ended with status {0}.', 2)
        : exception === null
          ? t('It ran with {0}.', python)
          : t('It ran with {1} and ended with status {0}.', String(exitCode), python);
    const onCpu = cpu === 'build' && !used && !stopped && refusal === null;
    const choose = notRun || onCpu || IMPORT_FAILED.test(exception?.sentence ?? '');
    const again: Button[] = crashed || this.plan !== null ? ['traceAgain'] : [];
    if (choose) again.unshift('chooseInterpreter');
    else if (crashed && (ranOut || !used) && this.plan?.script !== undefined)
      again[refusal === null ? 'push' : 'unshift']('changeArguments');
    this.set({
      phase: notRun ? 'failed' : 'ended',
      recording: false,
      ...ended,
      offers: again,
      ...(refusal !== null && { onCpu: false }),
      detail: ranOut ? '' : (refusal ?? exception?.sentence ?? end.sentence(used, cpu, stopped)),
      ...(exception?.place && { raisedAt: exception.place }),
      ran: crashed && !notRun && !ranOut ? ran : '',
    });
  }

  private async findEnding(): Promise<void> {
    try {
      await this.request('findEnding', {});
    } catch (error) {
      this.parts.log.warn(reasonOf(error)); // the end itself is shown
    }
  }

  /** Keeps the trace in the cache, as the command line does. */
  private async keepTrace(recording: Recording): Promise<void> {
    if (!this.used || this.byCommand) return;
    try {
      const { command, cwd } = recording.facts;
      const file = await this.request('keep', { command, cwd });
      this.file = file;
      this.changed.fire('state');
      this.parts.log.info(`trace kept in ${file}`);
      const [report] = await this.request('writeOomFiles', { folder: dirname(file) });
      if (report === undefined) return;
      this.oomReport = report;
      this.set({ offers: [...(this.state.offers ?? []), 'openReport'] });
    } catch (error) {
      this.parts.log.error(`the trace could not be kept: ${reasonOf(error)}`);
    }
  }

  /** Gives up the trace; what was recorded is deleted. */
  protected override drop(): void {
    this.stopWatching();
    this.stopCpuWatch();
    super.drop();
    if (this.attached) this.recording?.stop();
    this.recording = null;
    if (this.directory !== null && !this.byCommand) removeTraceDirectory(this.directory);
    this.directory = null;
  }

  /** A program that runs continues, and so does its trace directory: the next window finds both. */
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
