// A program that is being traced: started in a terminal, or attached to while it ran.
import * as vscode from 'vscode';
import { signalName } from '../../capture/launch/launch';
import { processAlive } from '../../capture/processes/processAlive';
import type { SessionFile } from '../../capture/traces/sessionFile';
import { programRuns, readPid, readStatus, statusFile } from '../../capture/launch/terminalScript';
import type { Tracer, TracerEnd } from '../../capture/launch/tracer';
import { watchFile } from '../../files/files';
import { cpuText, type CpuReason } from '../../text/cpuText';
import type { ProgramTerminal } from './terminal';

export abstract class Recording {
  /** The program ran before, and continues afterwards. */
  abstract readonly attached: boolean;

  constructor(
    readonly directory: string,
    readonly facts: SessionFile,
  ) {}

  /** How it ended; null while it continues. */
  abstract end(): RecordingEnd | null;

  /** Calls `check` whenever it may have ended, until what is returned is called. */
  watch(_check: () => void): () => void {
    return () => undefined;
  }

  /** The end of what the program printed, once it has ended; empty where that is not known. */
  lastOutput(): Promise<string> {
    return Promise.resolve('');
  }

  /** Ends the program, or, where it ran before, the tracing. Again: at once. */
  stop(): void {
    // There is nothing left to end.
  }

  /** The window goes: what cannot be followed without it ends, the program never. */
  leave(): void {
    // It continues without the window.
  }
}

export interface RecordingEnd {
  /** Null where it is not known. */
  exitCode: number | null;
  failed: boolean;
  /** How it ended, for people. `used`: CUDA was; `cpu`: why it could not be, where that is known. */
  sentence(used: boolean, cpu: CpuReason | null, stopped: boolean): string;
}

const STOP_GRACE_MS = 5_000;
const OFTEN_MS = 200;

/** It continues in its terminal when the window goes, and its library continues writing. */
export class LaunchedRecording extends Recording {
  readonly attached = false;

  constructor(
    directory: string,
    facts: SessionFile,
    readonly terminal: ProgramTerminal,
  ) {
    super(directory, facts);
  }

  end(): RecordingEnd | null {
    const status = readStatus(this.directory);
    if (status === null && (!this.terminal.closed() || programRuns(this.directory))) return null;
    const pid = readPid(this.directory);
    this.facts.processes = pid === null ? [] : [{ pid, exitCode: status }];
    return {
      exitCode: status,
      failed: status === 126 || status === 127,
      sentence: (used, cpu, stopped) =>
        endSentence(this.facts.command[0] ?? '', stopped ? 'stopped' : status, used, cpu),
    };
  }

  override lastOutput(): Promise<string> {
    return this.terminal.lastOutput?.() ?? super.lastOutput();
  }

  override watch(check: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const checkOften = (): void => void (timer ??= setInterval(check, OFTEN_MS));
    // A program may outlive its terminal for a while.
    const closed = this.terminal.onClosed(checkOften);
    const stop = watchFile(statusFile(this.directory), check, checkOften);
    return () => {
      clearInterval(timer);
      closed.dispose();
      stop();
    };
  }

  /** As Ctrl+C in the program's terminal; SIGTERM when it still runs after a while. */
  override stop(): void {
    void this.terminal.interrupt().then(typed => typed || this.signal('SIGINT'));
    setTimeout(() => this.signal('SIGTERM'), STOP_GRACE_MS);
  }

  private signal(name: NodeJS.Signals): void {
    const pid = readPid(this.directory);
    if (pid === null || !programRuns(this.directory)) return;
    try {
      process.kill(pid, name);
    } catch {
      // It ended in between.
    }
  }
}

export class AttachedRecording extends Recording {
  readonly attached = true;
  private result: TracerEnd | null = null;
  /** `stop` was called. */
  detaching = false;

  constructor(
    directory: string,
    facts: SessionFile,
    readonly tracer: Tracer,
    private readonly log: vscode.LogOutputChannel,
  ) {
    super(directory, facts);
    void tracer.ended.then(end => (this.result = end));
  }

  end(): RecordingEnd | null {
    const { result } = this;
    if (result === null) return null;
    if (result.lost > 0) this.log.warn(`the tracer dropped ${result.lost} events`);
    return {
      exitCode: null,
      failed: false,
      sentence: used => {
        const end = this.reason(result);
        return used ? end : `${end} ${vscode.l10n.t('It allocated nothing while the tracer was attached.')}`;
      },
    };
  }

  override watch(check: () => void): () => void {
    void this.tracer.ended.then(check);
    return () => undefined;
  }

  private reason({ problem }: TracerEnd): string {
    if (problem !== null) return problem.message;
    if (this.detaching) return vscode.l10n.t('Detached. The program keeps running.');
    return vscode.l10n.t('The program ended.');
  }

  override stop(): void {
    if (this.detaching) this.tracer.kill();
    this.detaching = true;
    this.tracer.detach();
  }

  override leave(): void {
    this.tracer.detach();
  }
}

/** A program that was attached to when the window went: its tracer went with the window, in order. */
export class LeftRecording extends Recording {
  readonly attached = true;

  end(): RecordingEnd {
    const { attached } = this.facts;
    const runs = attached !== undefined && processAlive(attached.pid, attached.realtimeMs);
    const sentence = runs
      ? vscode.l10n.t(
          'Tracing ended when the window was reloaded. The program keeps running. Attach again to continue.',
        )
      : vscode.l10n.t('Tracing ended when the window was reloaded. The program has since ended.');
    return { exitCode: null, failed: false, sentence: () => sentence };
  }
}

function endSentence(program: string, status: number | 'stopped' | null, used: boolean, cpu: CpuReason | null): string {
  if (status === null) return vscode.l10n.t('The terminal or debugger was closed.');
  if (status === 127) return vscode.l10n.t('{0} was not found.', program);
  if (status === 126) return vscode.l10n.t('{0} cannot be executed.', program);
  const signal = status === 'stopped' ? null : signalName(status);
  const end =
    status === 'stopped'
      ? vscode.l10n.t('Stopped.')
      : signal !== null
        ? vscode.l10n.t('The program was terminated by {0}.', signal)
        : status === 0
          ? vscode.l10n.t('It ended with status 0.')
          : vscode.l10n.t('The program failed with status {0}.', status);
  if (used) return end;
  return `${end} ${cpu === null ? vscode.l10n.t('It allocated no CUDA memory.') : cpuText(cpu, false, vscode.l10n.t)}`;
}
