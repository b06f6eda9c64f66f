import { commandText } from '../capture/checks/attachTarget';
import { injectionProblem, simulatorProblem } from '../capture/checks/simulator';
import { requestSurvey, type HolderTime } from '../capture/checks/survey';
import { gitHead } from '../capture/launch/git';
import { simulatorVariables, traceVariables } from '../capture/launch/environment';
import { launch, missingScript, type Launched, type NotLaunched, type Streams } from '../capture/launch/launch';
import { note, prepareTerminal } from '../capture/launch/terminalScript';
import { settle } from '../capture/launch/settle';
import { watchForCpu } from '../capture/processes/cpuReason';
import { cuptiFor, type Environment, findDriver } from '../capture/processes/machine';
import { openNamed, readText } from '../files/files';
import { announce } from '../capture/traces/announce';
import { reasonOf } from '../capture/traces/traceDirectory';
import { loadNative, type NativeAddon } from '../native/addon';
import { attempt } from '../base/attempt';
import { cpuText } from '../text/cpuText';
import { formatBytes, formatPlural } from '../text/format';
import type { RunArguments } from './arguments/arguments';
import type { StartConditions } from './arguments/startArguments';
import { watchForLeaks } from './leakWatch';
import { canTakeScreen } from './live/fullScreen';
import { attachBeforeStart, type Probes } from './probes';
import {
  beginRecording,
  dropRecording,
  finish,
  lastWord,
  NOT_STARTED,
  recordProcess,
  type Recording,
  showUntil,
  unwritableResult,
} from './commandRecording';
import { refuse, notify } from './output/output';

/** Beside the number of the signal that ended a program. */
const KILLED_BY = 128;
const [INTERRUPTED, KILLED] = [KILLED_BY + 2, KILLED_BY + 9];
const PARENT = process.ppid;
const ORPHAN_MS = 1_000;
const USUAL: HolderTime = 'onFirstLeak';
/** How long processes that the program left behind are waited for before the last table. */
const STRAGGLER_MS = 1_000;
/** Between two reads of how many steps have ended. */
const STEPS_MS = 50;

/** Runs a program under a tracer. Returns the exit status of the contract. */
export async function run(options: RunArguments, dist: string): Promise<number> {
  const problem = findProblem(options, dist);
  if (problem !== null) return refuse(problem, NOT_STARTED);
  const missing = missingScript(options.command);
  if (missing !== null) return refuse(missing.error, missing.status);
  const streams = programStreams(options);
  if ('error' in streams) return refuse(streams.error, NOT_STARTED);
  const { command, simulateGpu: simulated, backend } = options;
  const prepare = (directory: string): void => {
    if (backend === 'inject') requestSurvey(directory, options.holders ?? USUAL);
  };
  const about = { command, cwd: process.cwd(), simulated, backend, git: gitHead(process.cwd()) };
  const recording = beginRecording(dist, options, about, prepare, options.start);
  if ('error' in recording) {
    if (!recording.full) return refuse(recording.error, NOT_STARTED);
    notify(`${recording.error.replace(/\.$/, '')}; the program runs without being recorded.`);
    return runUnrecorded(options, dist, streams);
  }
  if (!simulated) await explainMissingGpu();
  const probes = backend === 'uprobe' ? await attachBeforeStart(options, recording, dist) : null;
  if (backend === 'uprobe' && probes === null) {
    dropRecording(recording);
    return NOT_STARTED;
  }
  const last = lastWord(recording, streams.wholeScreen);
  const started = start(options, recording.addon, variablesOf(options, recording, dist), last, streams);
  if ('error' in started) {
    await probes?.detach();
    dropRecording(recording);
    return started.status;
  }
  return follow(options, recording, started, probes, streams.wholeScreen);
}

/** A full disk is no reason not to run. */
async function runUnrecorded(options: RunArguments, dist: string, streams: ProgramStreams): Promise<number> {
  const loaded = loadNative(dist);
  if ('error' in loaded) return NOT_STARTED;
  const started = start(options, loaded.addon, gpuVariables(options, dist), '', streams);
  return 'error' in started ? started.status : started.ended;
}

function start(
  { command }: RunArguments,
  addon: NativeAddon,
  variables: Environment,
  lastWord: string,
  { descriptors }: ProgramStreams,
): Launched | NotLaunched {
  const environment = { ...process.env, ...variables, ...jupyterVariables(process.env) };
  const started = launch(addon, command, environment, lastWord, descriptors);
  if ('error' in started) notify(started.error);
  return started;
}

/** From here on the program's status is what counts: our own failures are printed and change nothing. */
async function follow(
  options: RunArguments,
  recording: Recording,
  started: Launched,
  probes: Probes | null,
  wholeScreen: boolean,
): Promise<number> {
  process.on('uncaughtException', error => notify(reasonOf(error)));
  recordProcess(recording, started.pid, null);
  attempt(() => prepareTerminal(recording.directory), undefined); // on a full disk the window sees no end of it
  note(recording.directory, 'pid', started.pid);
  if (recording.job === null) announce(recording.directory, null);
  const killsBefore = memoryKills();
  const orphaned = endWithJupyter(started.pid);
  const watched = options.backend === 'inject' && (options.holders ?? USUAL) === 'onFirstLeak';
  const watch = watched ? watchForLeaks(recording) : null;
  const cpu = noteCpuUse(recording, started.pid);
  const counting = stopAfter(options, recording, started.pid);
  const ended = await showUntil(options, recording.session, started.ended, {
    title: commandText(options.command),
    pid: started.pid,
    startedMs: recording.facts.startedRealtimeMs,
    wholeScreen,
    quit: () => notify('The program keeps running; its report is printed when it ends.'),
  });
  clearInterval(orphaned);
  counting.end();
  const status = (await counting.stopped()) && (ended < KILLED_BY || ended === INTERRUPTED) ? 0 : ended;
  watch?.stop();
  cpu.stop();
  recordProcess(recording, started.pid, status);
  note(recording.directory, 'status', status);
  if (status === KILLED && memoryKills() > killsBefore)
    notify(
      'Main memory ran out, and Linux killed the program. Its GPU and pinned memory at that time are shown below.',
    );
  await readToEnd(recording);
  await probes?.detach();
  return finish(options, recording, neverBegan(options.start, recording) ?? cpu.why(), status);
}

/** Why nothing was recorded of a program that was to be recorded from a later moment on; null: the recording began. */
function neverBegan(start: StartConditions | null, { session }: Recording): string | null {
  const { processes, totals, steps } = session.info();
  if (start === null || totals.length > 0 || processes.some(({ recording }) => recording)) return null;
  const { step, reservedBytes } = start;
  const counted = Math.max(0, ...steps.filter(({ source }) => source !== 'time').map(({ count }) => count));
  const reached =
    counted === 0 ? 'no training step was detected' : `it ended ${formatPlural(counted, 'training step')}`;
  if (step !== undefined) return `Nothing was recorded: recording was to start after step ${step}, but ${reached}.`;
  if (reservedBytes !== undefined)
    return `Nothing was recorded: PyTorch’s reserved memory never exceeded ${formatBytes(reservedBytes - 1)}.`;
  return 'Nothing was recorded: recording started paused (--start paused) and was never turned on.';
}

/** Ends the program once it has ended so many training steps. `stopped`, once it has ended: that has happened. */
function stopAfter(
  { maxSteps: most, backend }: RunArguments,
  recording: Recording,
  pid: number,
): { end(): void; stopped(): Promise<boolean> } {
  if (most === null) return { end: () => undefined, stopped: () => Promise.resolve(false) };
  const { session, directory } = recording;
  let stopped = false;
  const check = (): void => {
    if (stopped) return;
    const { steps, processes } = session.info();
    const counted = steps.filter(({ source }) => source !== 'time').sort((a, b) => b.count - a.count)[0];
    if (counted === undefined || counted.count < most) return;
    clearInterval(timer);
    stopped = true;
    notify(`Stopped after ${formatPlural(counted.count, 'step')} (--max-steps ${most}).`);
    // The library that counts optimizer steps in the program has sent it Ctrl+C already; a launcher gets it here.
    const byItself = backend === 'inject' && counted.source === 'optimizer' && processes[counted.process]?.pid === pid;
    if (!byItself) attempt(() => process.kill(pid, 'SIGINT'), false); // it may have ended
  };
  const timer = setInterval(check, STEPS_MS);
  return {
    end: () => clearInterval(timer),
    stopped: async () => {
      await settle(session, directory, STRAGGLER_MS).catch(() => undefined); // `readToEnd` has the reason
      check();
      return stopped;
    },
  };
}

/** How many programs Linux has killed since it started because main memory ran out; 0 where it does not count them (before Linux 4.13). */
function memoryKills(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readText('/proc/vmstat'))?.[1] ?? 0);
}

/** A program that could use a GPU but cannot prints nothing on it: we do, once. */
function noteCpuUse({ session }: Recording, pid: number): { stop(): void; why(): string } {
  let why = 'The program allocated nothing with CUDA.';
  const used = (): boolean => session.info().processes.length > 0;
  const stop = watchForCpu(
    () => pid,
    used,
    reason => {
      notify(cpuText(reason, true, text => text));
      why = cpuText(reason, false, text => text);
    },
  );
  return { stop, why: () => why };
}

/** Waits for what the program and its children wrote last. */
async function readToEnd({ session, directory }: Recording): Promise<void> {
  try {
    const running = await settle(session, directory, STRAGGLER_MS);
    if (running > 0) notify(`${running} of its processes are still running; their later events are not in the trace.`);
  } catch (error) {
    notify(`The trace could not be read completely (${reasonOf(error)}).`);
  }
}

interface ProgramStreams {
  descriptors: Streams;
  /** The program has nothing to do with our terminal. */
  wholeScreen: boolean;
}

/** With --log the terminal is ours alone: keys are for the view, so the program reads nothing. */
function programStreams({ log, format }: RunArguments): ProgramStreams | { error: string } {
  if (log === null) return { descriptors: [0, 1, 2], wholeScreen: false };
  const wholeScreen = format === 'table' && canTakeScreen();
  try {
    const file = openNamed(log, 'w');
    return { descriptors: [wholeScreen ? openNamed('/dev/null', 'r') : 0, file, file], wholeScreen };
  } catch (error) {
    return { error: `${log} cannot be written: ${reasonOf(error)}.` };
  }
}

/** One sentence on what keeps a run from starting, before anything is made. */
function findProblem(options: RunArguments, dist: string): string | null {
  return (
    unwritableResult(options) ??
    (options.backend === 'inject' ? injectionProblem(dist) : null) ??
    (options.simulateGpu ? simulatorProblem(dist) : null)
  );
}

/** A Jupyter kernel ends when its parent does: that is us. An editor's Node.js runs us by a variable that no other program is to have. */
function jupyterVariables({ JPY_PARENT_PID: parent }: Environment): Environment {
  return {
    ...(parent && { JPY_PARENT_PID: String(process.pid) }),
    ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: undefined }),
  };
}

/** Ends a kernel whose Jupyter server is gone: its own parent is still there. */
function endWithJupyter(pid: number): NodeJS.Timeout | undefined {
  const check = (): void => void (process.ppid !== PARENT && process.kill(pid, 'SIGTERM'));
  return process.env.JPY_PARENT_PID === undefined ? undefined : setInterval(check, ORPHAN_MS);
}

/** What the program's environment gets: under the uprobe tracer nothing, unless the GPU is simulated. */
function variablesOf(options: RunArguments, recording: Recording, dist: string): Environment {
  const variables = gpuVariables(options, dist);
  if (options.backend === 'uprobe') return variables;
  const environment = { ...process.env, ...variables };
  const traced = traceVariables(environment, {
    dist,
    traceDirectory: recording.directory,
    cupti: cuptiFor(options.command, environment, process.cwd()),
    budgetBytes: recording.limits.budgetBytes,
    lean: options.lean,
    maxSteps: options.maxSteps,
  });
  return { ...variables, ...traced };
}

function gpuVariables({ simulateGpu }: RunArguments, dist: string): Environment {
  return simulateGpu ? simulatorVariables(process.env, dist) : {};
}

async function explainMissingGpu(): Promise<void> {
  const { libcuda, gpu } = await findDriver(process.env);
  if (libcuda === null) notify('No NVIDIA driver was found (libcuda.so.1): the program runs without a GPU.');
  else if (!gpu) notify(`No NVIDIA GPU was found (${libcuda} is there): the program runs without one.`);
}
