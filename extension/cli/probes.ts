// The privileged tracer as the command line uses it: started, watched, detached; what goes wrong is printed.
import { commandLine, explain } from '../capture/checks/attachTarget';
import type { Advice } from '../capture/checks/privileges';
import { settle } from '../capture/launch/settle';
import { Tracer, type TracerEnd, tracerMissing, tracerProgram } from '../capture/launch/tracer';
import { continueDescendants, gpuBytesOf } from '../capture/processes/processes';
import type { RecordingArguments, RunArguments } from './arguments/arguments';
import type { Recording } from './commandRecording';
import { print, notify } from './output/output';

/** How long to wait for a log that began a moment ago. */
const LOGS_LIMIT_MS = 1_000;

/** Probes that are in place. */
export interface Probes {
  readonly tracer: Tracer;
  /** Takes them away; prints what was missed. */
  detach(): Promise<TracerEnd>;
}

export function printAdvice({ sentence, command }: Advice): void {
  notify(sentence);
  if (command !== null) print([`  ${command}`], 2);
}

/**
 * Places probes for a process; `stopped` ends the attempt. Null: they could not be placed; the reason was printed.
 */
export async function placeProbes(
  target: { pid: number; waitLibraries: boolean },
  options: RecordingArguments,
  recording: Recording,
  dist: string,
  onStart: (tracer: Tracer) => void = () => undefined,
): Promise<Probes | null> {
  const missing = tracerMissing(dist);
  if (missing !== null) {
    notify(missing.message);
    return null;
  }
  const tracer = new Tracer({
    ...target,
    program: tracerProgram(dist),
    directory: recording.directory,
    nativeStacks: options.nativeStacks,
    budgetBytes: recording.limits.budgetBytes,
    earlierBytes: target.waitLibraries ? [] : await gpuBytesOf(target.pid, process.env),
  });
  onStart(tracer);
  const ready = await tracer.ready;
  if (ready.type === 'error') {
    await tracer.ended;
    printAdvice(explain(ready, dist, [...commandLine(dist), ...process.argv.slice(2)]));
    return null;
  }
  return { tracer, detach: () => detach(tracer, recording) };
}

/**
 * Places probes before the program is started, which is then a child of this process: so its first event is seen, and
 * its environment, its way to be started and its status are as without a tracer.
 */
export async function attachBeforeStart(
  options: RunArguments,
  recording: Recording,
  dist: string,
): Promise<Probes | null> {
  const probes = await placeProbes({ pid: process.pid, waitLibraries: true }, options, recording, dist);
  // While the tracer lives it holds processes up at new libraries; one that died may have left them so.
  void probes?.tracer.ended.then(({ problem }) => (problem === null ? undefined : continueDescendants(process.pid)));
  return probes;
}

async function detach(tracer: Tracer, recording: Recording): Promise<TracerEnd> {
  tracer.detach();
  const end = await tracer.ended;
  if (end.problem !== null) notify(`${end.problem.message.replace(/\.$/, '')}; later events are not in the trace.`);
  await settle(recording.session, recording.directory, LOGS_LIMIT_MS, true);
  const { lost } = recording.session.info();
  if (end.lost > lost.events) notify(`The tracer dropped ${end.lost - lost.events} more events than the trace counts.`);
  return end;
}
