// What `run` and `attach` share: the trace directory, the live table, the results at the end.
import { resolve } from 'node:path';
import { buildReport } from '../analysis/report/report';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { sureLeaks } from '../analysis/findings/verdicts';
import { keptTracesFolder, traceRoots } from '../capture/traces/folders';
import { keptTraceFile, pruneKeptTraces, unwritable } from '../capture/traces/keptTraces';
import { noteProcesses, writeSession, type SessionFile } from '../capture/traces/sessionFile';
import { createTraceDirectory, reasonOf, removeTraceDirectory } from '../capture/traces/traceDirectory';
import { loadNative, type NativeSession } from '../engine/addon';
import { createLineReader } from '../engine/sourceLines';
import type { RecordingArguments } from './arguments/arguments';
import { jsonChunks } from './jsonDocument';
import { createLiveTable, tableLines } from './live';
import { print, say } from './output';
import { giveToSudoUser, writeResult } from './resultFile';

/** Exit status where nothing could be recorded. */
export const NOT_STARTED = 125;
/** Exit status of --fail-on-leak. */
const LEAK_FOUND = 3;
const FINAL_TOP = 50;

/** A trace that is being recorded. */
export interface Recording {
  directory: string;
  freeBytes: number;
  session: NativeSession;
  facts: SessionFile;
}

/** One sentence when a result could not be written where it is wanted, else null. */
export function unwritableResult(options: RecordingArguments): string | null {
  for (const file of [options.output, options.report]) {
    const sentence = file === null ? null : unwritable(file);
    if (sentence !== null) return sentence;
  }
  return null;
}

/** Makes the trace directory and begins to follow it. The error is one sentence. */
export function beginRecording(
  dist: string,
  facts: Omit<SessionFile, 'version' | 'startedRealtimeMs' | 'processes'>,
): Recording | { error: string } {
  const loaded = loadNative(dist);
  if ('error' in loaded) return loaded;
  const uid = process.getuid?.() ?? 0;
  const made = createTraceDirectory(traceRoots(process.env, uid), uid);
  if ('error' in made) return made;
  if (made.note !== null) say(made.note);
  const session: SessionFile = { version: 1, ...facts, startedRealtimeMs: Date.now(), processes: [] };
  try {
    loaded.addon.setRecording(made.path, true);
    writeSession(made.path, session);
    return {
      directory: made.path,
      freeBytes: made.freeBytes,
      session: loaded.addon.open(made.path),
      facts: session,
    };
  } catch (error) {
    removeTraceDirectory(made.path);
    return { error: reasonOf(error) };
  }
}

/** Leaves nothing of a recording that came to nothing. */
export function dropRecording({ session, directory }: Recording): void {
  session.close();
  removeTraceDirectory(directory);
}

/** Writes down which process is traced and how it ended. */
export function noteProcess({ directory, facts }: Recording, pid: number, exitCode: number | null): void {
  facts.processes = [{ pid, exitCode }];
  noteProcesses(directory, facts);
}

/** Shows the table until `end` resolves. */
export async function showUntil<T>(options: RecordingArguments, session: NativeSession, end: Promise<T>): Promise<T> {
  const table = options.format === 'table' ? createLiveTable(session) : null;
  const timer = table === null ? undefined : setInterval(() => table.show(), options.intervalMs);
  try {
    return await end;
  } finally {
    clearInterval(timer);
    table?.stop();
  }
}

/**
 * Last table, document, saved trace; all events have been read. `nothing`: what to say where there is no trace to save.
 * Gives the exit status: `status`, or that of a leak that was to fail the run. Never throws.
 */
export async function finish(
  options: RecordingArguments,
  recording: Recording,
  nothing: string,
  status: number,
): Promise<number> {
  const { session, directory } = recording;
  let result = status;
  try {
    const verdicts = verdictsOf(session, createLineReader());
    if (options.failOnLeak && sureLeaks(verdicts.findings).length > 0) result = LEAK_FOUND;
    if (options.format === 'table') print(tableLines(session, FINAL_TOP, FINAL_TOP, true), 2);
    const report =
      options.format === 'json' || options.report !== null ? buildReport(session, undefined, verdicts) : null;
    if (report !== null) writeResult(jsonChunks(report), options.report);
    await save(options, recording, nothing);
    session.close();
  } catch (error) {
    say(`The report could not be made (${reasonOf(error)}); the trace stays in`);
    print([directory], 2);
  }
  return result;
}

/** The trace's file is the last line on stderr, where anything is printed. What cannot be saved stays where it was recorded. */
async function save(options: RecordingArguments, recording: Recording, nothing: string): Promise<void> {
  const { session, directory, facts } = recording;
  const kept = keptTracesFolder(process.env);
  if (session.info().processes.length === 0) {
    removeTraceDirectory(directory);
    if (options.output !== null) say(`${nothing}: there is nothing to save in ${options.output}.`);
    return;
  }
  try {
    const file = options.output === null ? keptTraceFile(kept, facts.command, new Date()) : resolve(options.output);
    await session.save(file, '');
    removeTraceDirectory(directory);
    if (options.output === null) {
      pruneKeptTraces(kept);
      if (options.format !== 'none') print([file], 2);
    } else {
      giveToSudoUser(file);
    }
  } catch (error) {
    say(`The trace could not be saved (${reasonOf(error)}); it stays in`);
    print([directory], 2);
  }
}
