import { checkTarget, commandLine, processName } from '../capture/checks/attachTarget';
import { type Tracer, tracerMissing } from '../capture/launch/tracer';
import { type ProcessFacts, workingFolder } from '../capture/processes/processes';
import type { AttachArguments } from './arguments/arguments';
import { canTakeScreen } from './live/fullScreen';
import { placeProbes, printAdvice } from './probes';
import {
  beginRecording,
  dropRecording,
  finish,
  lastWord,
  NOT_STARTED,
  recordProcess,
  showUntil,
  unwritableResult,
} from './commandRecording';
import { refuse, notify } from './output/output';

/** Note of the tracer's log on what was there before (`GMT_NOTE_ATTACHED`, native/wire). */
const NOTE_ATTACHED = 10;

/** Traces a process that runs already, until Ctrl+C or its end. Returns the exit status of the contract. */
export async function attach(options: AttachArguments, dist: string): Promise<number> {
  const problem = tracerMissing(dist)?.message ?? unwritableResult(options);
  if (problem !== null) return refuse(problem, NOT_STARTED);
  const target = await checkTarget(options.pid, [...commandLine(dist), ...process.argv.slice(2)]);
  if (!('sentence' in target)) return record(options, target, dist);
  printAdvice(target);
  return NOT_STARTED;
}

async function record(options: AttachArguments, target: ProcessFacts, dist: string): Promise<number> {
  const { pid, command } = target;
  const recording = beginRecording(dist, options, {
    command,
    cwd: await workingFolder(pid),
    backend: 'uprobe',
    attached: { pid, realtimeMs: Date.now() },
  });
  if ('error' in recording) return refuse(recording.error, NOT_STARTED);
  recordProcess(recording, pid, null);
  const probes = await placeProbes({ pid, waitLibraries: false }, options, recording, dist, detachOnSignals());
  if (probes === null) {
    dropRecording(recording);
    return NOT_STARTED;
  }
  const name = processName(target);
  const named = name.charAt(0).toLowerCase() + name.slice(1);
  if (options.format === 'table') notify(`Attached to ${named}. Ctrl+C detaches; the program keeps running.`);
  await showUntil(options, recording.session, probes.tracer.ended, {
    title: named,
    pid: null,
    startedMs: recording.facts.startedRealtimeMs,
    wholeScreen: canTakeScreen(),
    quit: () => probes.tracer.detach(),
  });
  const end = await probes.detach();
  recording.addon.endOnSignals(lastWord(recording));
  if (!recording.session.info().processes.some(({ notes }) => notes.some(({ code }) => code === NOTE_ATTACHED))) {
    notify('The trace began when the tracer attached, so earlier allocations are unknown.');
  }
  const status = end.problem === null ? 0 : NOT_STARTED;
  return finish(options, recording, 'Nothing was allocated while the tracer was attached.', status);
}

/**
 * The first signal detaches in order; a second one does not wait for that. Begins before the tracer does, so that no signal is lost;
 * the returned function takes the tracer.
 */
function detachOnSignals(): (tracer: Tracer) => void {
  let signals = 0;
  let running: Tracer | null = null;
  const stop = (): void => {
    if (signals === 1) running?.detach();
    else if (signals > 1) running?.kill();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      signals++;
      stop();
    });
  }
  return tracer => {
    running = tracer;
    stop();
  };
}
