import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildReport } from '../analysis/report';
import { traceVariables } from '../capture/environment';
import { keptTracesFolder, traceRoots } from '../capture/folders';
import { keptTraceFile, pruneKeptTraces, unwritable } from '../capture/keptTraces';
import { launch, type Launched } from '../capture/launch';
import { cuptiCandidates, findGpus, findLibcuda, interpreterOf } from '../capture/machine';
import { writeSession, type SessionFile } from '../capture/sessionFile';
import { settleDirectory } from '../capture/settle';
import { injectionProblem, simulatorProblem } from '../capture/simulator';
import { createTraceDirectory, logBudget, reasonOf, removeTraceDirectory } from '../capture/traceDirectory';
import { loadNative, type NativeAddon, type NativeSession } from '../engine/addon';
import type { RunArguments } from './arguments';
import { createLiveTable, tableText } from './live';
import { print, say, write } from './output';

const NOT_STARTED = 125;
/** How long processes that the program left behind are waited for before the last table. */
const STRAGGLER_MS = 1_000;
const FINAL_TOP = 50;

/** Runs a program under the tracer. Returns the exit status of the contract. */
export async function run(options: RunArguments, dist: string): Promise<number> {
  const problem = findProblem(options, dist);
  const loaded = loadNative(dist);
  if (problem !== null || 'error' in loaded) {
    say(problem ?? (loaded as { error: string }).error);
    return NOT_STARTED;
  }
  const directory = createTraceDirectory(traceRoots(process.env, process.getuid?.() ?? 0), process.getuid?.() ?? 0);
  if ('error' in directory) {
    say(directory.error);
    return NOT_STARTED;
  }
  if (directory.note !== null) say(directory.note);
  if (!options.simulateGpu) await sayWithoutGpu();
  const trace = openForRecording(loaded.addon, directory.path);
  if ('error' in trace) {
    removeTraceDirectory(directory.path);
    say(trace.error);
    return NOT_STARTED;
  }
  const variables = traceVariables(process.env, {
    dist,
    traceDirectory: directory.path,
    simulated: options.simulateGpu,
    cupti: findCupti(options),
    budgetBytes: logBudget(process.env, directory.freeBytes),
  });
  const facts = sessionFacts(options);
  writeSession(directory.path, facts);
  const environment = { ...process.env, ...variables };
  const started = await launch({ command: options.command, cwd: process.cwd(), environment });
  if ('error' in started) {
    trace.session.close();
    removeTraceDirectory(directory.path);
    say(started.error);
    return started.status;
  }
  // From here on the program's status is what counts: our own failures are said and change nothing.
  process.on('uncaughtException', error => say(reasonOf(error)));
  const status = await watch(options, trace.session, started, directory.path, facts);
  try {
    await finish(options, trace.session, directory.path, facts);
  } catch (error) {
    say(`The report could not be made (${reasonOf(error)}); the trace stays in`);
    write(2, `${directory.path}\n`);
  }
  return status;
}

/** One sentence on what keeps a run from starting, before anything is made. */
function findProblem(options: RunArguments, dist: string): string | null {
  for (const file of [options.output, options.report]) {
    const sentence = file === null ? null : unwritable(file);
    if (sentence !== null) return sentence;
  }
  return injectionProblem(dist) ?? (options.simulateGpu ? simulatorProblem(dist) : null);
}

async function sayWithoutGpu(): Promise<void> {
  const libcuda = await findLibcuda(process.env);
  if (libcuda === null) {
    say(
      'No NVIDIA driver was found (libcuda.so.1): the program runs without a GPU; --simulate-gpu gives it a simulated one.',
    );
  } else if ((await findGpus(process.env)).length === 0 && !libcudaIsNamed(libcuda)) {
    say(
      `No NVIDIA GPU was found (${libcuda} is there): the program runs without one; --simulate-gpu gives it a simulated one.`,
    );
  }
}

/** A driver that LD_LIBRARY_PATH names may bring its own GPUs. */
function libcudaIsNamed(libcuda: string): boolean {
  return (process.env.LD_LIBRARY_PATH ?? '').split(':').some(folder => folder !== '' && libcuda.startsWith(folder));
}

function findCupti(options: RunArguments): string | null {
  const program = interpreterOf(options.command[0] ?? '', process.env, process.cwd());
  return process.env.GPU_MEMTRACE_CUPTI ?? cuptiCandidates(process.env, program)[0] ?? null;
}

function openForRecording(addon: NativeAddon, directory: string): { session: NativeSession } | { error: string } {
  try {
    addon.setRecording(directory, true);
    return { session: addon.open(directory) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function sessionFacts(options: RunArguments): SessionFile {
  return {
    version: 1,
    command: options.command,
    cwd: process.cwd(),
    startedRealtimeMs: Date.now(),
    simulated: options.simulateGpu,
    backend: 'inject',
    processes: [],
  };
}

/** Shows the table until the program ends. */
async function watch(
  options: RunArguments,
  session: NativeSession,
  started: Launched,
  directory: string,
  facts: SessionFile,
): Promise<number> {
  facts.processes = [{ pid: started.pid, exitCode: null }];
  writeSession(directory, facts);
  const table = options.format === 'table' ? createLiveTable(session) : null;
  const timer = table === null ? undefined : setInterval(() => table.show(), options.intervalMs);
  const status = await started.ended;
  clearInterval(timer);
  table?.stop();
  facts.processes = [{ pid: started.pid, exitCode: status }];
  writeSession(directory, facts);
  return status;
}

/** Last table, document, saved trace. */
async function finish(
  options: RunArguments,
  session: NativeSession,
  directory: string,
  facts: SessionFile,
): Promise<void> {
  const running = await settleDirectory(session, directory, STRAGGLER_MS);
  if (running > 0) say(`${running} of its processes still run: what they do from here on is not in the trace.`);
  if (options.format === 'table') write(2, tableText(session, FINAL_TOP, FINAL_TOP, true));
  const report = options.format === 'json' || options.report !== null ? buildReport(session) : null;
  if (report !== null) writeReport(JSON.stringify(report, null, 2), options.report);
  if (options.failOnLeak) say('Leaks are not judged yet: --fail-on-leak changes nothing.');
  await save(options, session, directory, facts);
  session.close();
}

function writeReport(document: string, file: string | null): void {
  if (file === null) {
    print(document);
    return;
  }
  try {
    writeFileSync(`${file}.part`, `${document}\n`);
    renameSync(`${file}.part`, file);
  } catch (error) {
    say(`${file} cannot be written: ${reasonOf(error)}.`);
  }
}

/** The trace's file is the last line on stderr. What cannot be saved stays where it was recorded. */
async function save(
  options: RunArguments,
  session: NativeSession,
  directory: string,
  facts: SessionFile,
): Promise<void> {
  const kept = keptTracesFolder(process.env);
  if (session.info().processes.length === 0) {
    removeTraceDirectory(directory);
    if (options.output !== null) say(`The program never used CUDA: there is nothing to save in ${options.output}.`);
    return;
  }
  try {
    const file = options.output === null ? keptTraceFile(kept, options.command, new Date()) : resolve(options.output);
    await session.save(file, JSON.stringify(facts));
    removeTraceDirectory(directory);
    if (options.output === null) {
      pruneKeptTraces(kept);
      write(2, `${file}\n`);
    }
  } catch (error) {
    say(`The trace could not be saved (${reasonOf(error)}); it stays in`);
    write(2, `${directory}\n`);
  }
}
