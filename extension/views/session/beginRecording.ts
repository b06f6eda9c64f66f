// How a recording begins: a program is started, one that runs is attached to, or one is found again after a reload.
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { injectionProblem } from '../../capture/checks/simulator';
import { requestSurvey, HOLDER_TIMES, type HolderTime } from '../../capture/checks/survey';
import { traceVariables } from '../../capture/launch/environment';
import { KeptRecorder, type SpaceLimits, spaceLimits, wakeRecorder } from '../../capture/launch/recorder';
import type { LaunchPlan } from '../../capture/launch/launchConfiguration';
import { prepareTerminal } from '../../capture/launch/terminalScript';
import { Tracer, tracerMissing, tracerProgram } from '../../capture/launch/tracer';
import { cuptiFor, type Environment } from '../../capture/processes/machine';
import { gpuBytesOf, type ProcessFacts, workingFolder } from '../../capture/processes/processes';
import { traceRoots } from '../../capture/traces/folders';
import { recordProcesses, readSession, type SessionFile, writeSession } from '../../capture/traces/sessionFile';
import type { TraceDirectory } from '../../capture/traces/traceDirectory';
import { createTraceDirectory, reasonOf, removeTraceDirectory } from '../../capture/traces/traceDirectory';
import type { Engine } from '../../protocol/requests/engineRequests';
import { ownFolder } from '../../files/files';
import { AttachedRecording, LaunchedRecording, LeftRecording, type Recording } from './recording';
import { Refused } from './refused';
import { inheritedEnvironment, openTerminal, reloadedTerminal, type OpenTerminal } from './terminal';

/** What is kept of a running session while there is no window: the rest lies in its directory. */
export interface Remembered {
  directory: string;
  title: string;
  /** Process id of the terminal's shell, or of the command in it; null: there is none. */
  terminal: number | null;
  /** The command gpu-memtrace records it, and will save it. */
  byCommand?: true;
}

/** The user's choice of when a program is stopped to find what holds its memory. */
export function holderTime(): HolderTime {
  const chosen = vscode.workspace.getConfiguration('gpuMemoryTrace').get<string>('holders');
  return HOLDER_TIMES.find(time => time === chosen) ?? 'onFirstLeak';
}

/** Of the space that a trace takes while it is recorded, in bytes; null: the usual. */
function spaceSettings(): { detailBytes: number | null; budgetBytes: number | null } {
  const settings = vscode.workspace.getConfiguration('gpuMemoryTrace');
  const bytes = (name: string): number | null => {
    const megabytes = settings.get<number>(name) ?? 0;
    return megabytes > 0 ? megabytes * 1024 ** 2 : null;
  };
  return { detailBytes: bytes('detail'), budgetBytes: bytes('budget') };
}

export class Recorder {
  constructor(
    private readonly dist: string,
    private readonly engine: Engine,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Starts a program, in a terminal of its own unless `open` does it otherwise. Rejects with a sentence. */
  async launch(plan: LaunchPlan, open?: OpenTerminal): Promise<LaunchedRecording> {
    const problem = injectionProblem(this.dist);
    if (problem !== null) throw new Refused(problem);
    const environment = { ...inheritedEnvironment(), ...plan.environment };
    const { command, cwd } = plan;
    const about = { command, cwd, backend: 'inject' as const };
    const { facts, made, limits } = await this.prepare(environment, about, directory => {
      prepareTerminal(directory);
      requestSurvey(directory, holderTime());
    });
    const variables = traceVariables(environment, {
      dist: this.dist,
      traceDirectory: made.path,
      cupti: cuptiFor(plan.command, environment, plan.cwd),
      budgetBytes: limits.budgetBytes,
      lean: vscode.workspace.getConfiguration('gpuMemoryTrace').get<boolean>('lean') === true,
      maxSteps: null,
    });
    this.log.info(`starts ${JSON.stringify(command)} in ${cwd}, trace in ${made.path}`);
    const terminal = open?.(made.path, variables) ?? openTerminal(plan, made.path, variables);
    return new LaunchedRecording(made.path, facts, terminal);
  }

  /** Starts the tracer for a process that runs already; its `ready` has more. Rejects with a sentence. */
  async attach({ pid, command }: ProcessFacts): Promise<AttachedRecording> {
    const missing = tracerMissing(this.dist);
    if (missing !== null) throw new Refused(missing.message);
    const { facts, made, limits } = await this.prepare(process.env, {
      command,
      cwd: await workingFolder(pid),
      backend: 'uprobe',
      attached: { pid, realtimeMs: Date.now() },
    });
    facts.processes = [{ pid, exitCode: null }];
    recordProcesses(made.path, facts);
    const tracer = new Tracer({
      program: tracerProgram(this.dist),
      pid,
      directory: made.path,
      waitLibraries: false,
      nativeStacks: false,
      budgetBytes: limits.budgetBytes,
      earlierBytes: await gpuBytesOf(pid, process.env),
    });
    return new AttachedRecording(made.path, facts, tracer, this.log);
  }

  /** A recording that a window left behind. Null: nothing of it is there any more. */
  resume({ directory, terminal, byCommand }: Remembered): Recording | null {
    const facts = ownFolder(directory) ? readSession(directory) : null;
    if (facts === null) return null;
    wakeRecorder(this.dist, directory, [dirname(directory)]); // this window remembers it
    if (facts.backend === 'uprobe' && !byCommand) return new LeftRecording(directory, facts);
    const pidFile = join(directory, 'pid');
    const sinceMs = existsSync(pidFile) ? statSync(pidFile).mtimeMs : facts.startedRealtimeMs;
    return new LaunchedRecording(directory, facts, reloadedTerminal(terminal ?? 0, sinceMs));
  }

  /** Makes the trace directory; `more` writes what else is to be in it. */
  private async prepare(
    environment: Environment,
    about: Omit<SessionFile, 'version' | 'startedRealtimeMs' | 'processes'>,
    more: (directory: string) => void = () => undefined,
  ): Promise<{ facts: SessionFile; made: TraceDirectory; limits: SpaceLimits }> {
    const [command = []] = await this.engine.request('maskSecrets', { commands: [about.command] });
    const uid = process.getuid?.() ?? 0;
    const made = createTraceDirectory(traceRoots(environment, uid), uid);
    if ('error' in made) throw new Refused(made.error);
    if (made.note !== null) this.log.warn(made.note);
    const facts: SessionFile = { version: 1, ...about, command, startedRealtimeMs: Date.now(), processes: [] };
    try {
      writeSession(made.path, facts);
      await this.engine.request('setRecording', { directory: made.path, on: true });
      more(made.path);
    } catch (error) {
      removeTraceDirectory(made.path);
      throw new Refused(vscode.l10n.t('{0} could not be written: {1}.', made.path, reasonOf(error)));
    }
    const limits = spaceLimits(spaceSettings(), environment, made);
    new KeptRecorder(this.dist, made.path, limits); // until the trace is deleted, or its job is over
    return { facts, made, limits };
  }
}
