// What `run` and `attach` share: the trace directory, the live table, the results at the end.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { verdictsOf } from '../analysis/findings/verdictCache';
import { sureLeaks } from '../analysis/findings/judgeTrace';
import { buildReport } from '../report/documents/reportDocument';
import { oomDocuments } from '../report/documents/oomReport';
import { findingText, headLine, type OomFiles } from '../report/tables/tableFindings';
import { isConclusive, overallVerdict } from '../analysis/sites/overallVerdict';
import { KeptRecorder, spaceLimits } from '../capture/launch/recorder';
import { keptTracesFolder, keptTracesRoot, traceRoots } from '../capture/traces/folders';
import { keepOomDocument, keptTraceFile, pruneKeptTraces, unwritable } from '../capture/traces/keptTraces';
import { announce } from '../capture/traces/announce';
import { recordProcesses, type SessionFile, writeSession } from '../capture/traces/sessionFile';
import type { NoTraceDirectory } from '../capture/traces/traceDirectory';
import { createTraceDirectory, isFull, reasonOf, removeTraceDirectory } from '../capture/traces/traceDirectory';
import { loadNative, type NativeTrace } from '../native/addon';
import { createLineReader } from '../native/lineReader';
import { readTextIn } from '../files/files';
import { attempt } from '../base/attempt';
import { escapeForTerminal, textOf } from '../text/escapeForTerminal';
import type { Verdicts } from '../protocol/verdicts';
import type { RecordingArguments } from './arguments/arguments';
import type { StartConditions } from './arguments/startArguments';
import { LEAVE } from './live/fullScreen';
import { jobFolderOf, jobLimits, JobRecording, unwritableJob } from './job/jobRecording';
import { createLive, type LiveOptions } from './live/live';
import { metricsProblem, MetricsSender } from './metricsSender';
import { momentsOf, shownMoments, type EndedTrace } from './report/finalMoment';
import { jsonChunks } from './report/jsonChunks';
import { print, notify, terminalSize } from './output/output';
import { giveToSudoUser, writeResult } from './output/resultFile';
import { summaryLines } from './report/summary';

/** Exit status where nothing could be recorded. */
export const NOT_STARTED = 125;
/** Exit status of --fail-on-leak. */
const LEAK_FOUND = 3;
/** What a process could not print, since its stderr was a file of its own. */
const NOT_RECORDED = /^not-recorded-\d+\.txt$/;

/** A trace that is being recorded. */
export type Recording = Exclude<ReturnType<typeof beginRecording>, NoTraceDirectory>;

/** One sentence when a result could not be written to its file, else null. */
export function unwritableResult(options: RecordingArguments): string | null {
  const folder = jobFolderOf(options.output);
  const files = [folder === null ? options.output : null, options.report, options.prometheus];
  const sentences = files.map(file => (file === null ? null : unwritable(file)));
  const job = folder === null ? null : unwritableJob(folder);
  return job ?? sentences.find(sentence => sentence !== null) ?? metricsProblem(options);
}

/** Makes the trace directory, lets `prepare` write more into it and begins to follow it. `start`: recording waits for it. */
export function beginRecording(
  dist: string,
  options: RecordingArguments,
  facts: Omit<SessionFile, 'version' | 'startedRealtimeMs' | 'processes'>,
  prepare: (directory: string) => void = () => undefined,
  start: StartConditions | null = null,
) {
  const loaded = loadNative(dist);
  if ('error' in loaded) return { ...loaded, full: false };
  const uid = process.getuid?.() ?? 0;
  const made = createTraceDirectory(traceRoots(process.env, uid), uid);
  if ('error' in made) return made;
  const command = loaded.addon.maskSecrets(facts.command);
  const session: SessionFile = { version: 1, ...facts, command, startedRealtimeMs: Date.now(), processes: [] };
  try {
    writeSession(made.path, session);
    loaded.addon.setRecording(made.path, start === null, start ?? {});
    prepare(made.path);
    const { path: directory, note } = made;
    const { addon } = loaded;
    const folder = jobFolderOf(options.output);
    const limits = jobLimits(spaceLimits(options, process.env, made), options.ranks, facts.command);
    const followed = addon.open(directory);
    // Where it is a part of a job (`-o DIR/`).
    const job = folder === null ? null : new JobRecording(folder, directory, followed);
    const recorder = new KeptRecorder(dist, directory, limits, job?.copies);
    const metrics = new MetricsSender(options, followed, session.startedRealtimeMs);
    const recording = { directory, limits, recorder, addon, session: followed, facts: session, job, metrics };
    if (note !== null) notify(note);
    return recording;
  } catch (error) {
    removeTraceDirectory(made.path);
    const sentence = `No trace can be written in ${dirname(made.path)}: ${endless(reasonOf(error))}.`;
    return { error: sentence, full: isFull(error) || made.note !== null };
  }
}

/** The last sentence where a signal ends us before the trace is saved; what was drawn leaves the terminal as it found it. */
export function lastWord({ directory }: Recording, wholeScreen = false): string {
  const restored = wholeScreen ? LEAVE : isatty(2) ? '\x1b7\x1b[r\x1b8\n' : '';
  return `${restored}gpu-memtrace: A signal arrived before the trace was saved. It remains in\n${directory}\n`;
}

/** Leaves nothing of a recording that came to nothing. */
export function dropRecording({ session, directory, recorder, metrics }: Recording): void {
  recorder.stop();
  metrics.stop();
  session.close();
  removeTraceDirectory(directory);
}

/** Writes down which process is traced and how it ended. */
export function recordProcess({ directory, facts }: Recording, pid: number, exitCode: number | null): void {
  facts.processes = [{ pid, exitCode }];
  recordProcesses(directory, facts);
}

/** Shows what is alive until `end` resolves. */
export async function showUntil<T>(
  options: RecordingArguments,
  session: NativeTrace,
  end: Promise<T>,
  how: LiveOptions,
): Promise<T> {
  const live = options.format === 'table' ? createLive(session, how) : null;
  const timer = live === null ? undefined : setInterval(() => live.show(), options.intervalMs);
  try {
    return await end;
  } finally {
    clearInterval(timer);
    live?.stop();
  }
}

/**
 * Last table, document, saved trace; all events have been read. `nothing`: why there may be no trace to save, in a sentence.
 * Gives the exit status: `status`, or that of a leak that was to fail the run. Never throws.
 */
export async function finish(
  options: RecordingArguments,
  recording: Recording,
  nothing: string,
  status: number,
): Promise<number> {
  const { session, directory, addon } = recording;
  recording.recorder.stop();
  let result = status;
  try {
    await recording.metrics.end();
    if (!existsSync(directory))
      notify(`${directory} was deleted during recording, so parts of the trace may be missing.`);
    for (const name of attempt(() => readdirSync(directory), [])
      .filter(name => NOT_RECORDED.test(name))
      .slice(0, 3))
      print([escapeForTerminal(readTextIn(directory, name).trimEnd())], 2);
    const verdicts = verdictsOf(session, createLineReader());
    const { failOnLeak } = options;
    const failing = failOnLeak === null ? [] : sureLeaks(verdicts.findings, failOnLeak === 'all');
    if (failing.length > 0) result = LEAK_FOUND;
    const ended = { addon, session, path: directory, followed: true } as const;
    const oomFiles = await writeOomFiles(ended, verdicts, oomFolder(options, recording.facts.cwd));
    if (options.format === 'table') {
      const [program] = recording.facts.processes;
      const width = terminalSize(2)?.columns ?? null;
      const how = { blocks: options.blocks, nothing, width, status: program?.exitCode ?? null, oomFiles };
      print(await summaryLines(ended, verdicts, how), 2);
    } else {
      print(failing.map(headLine), 2);
      const failed = verdicts.findings.filter(({ failure }) => failure && options.format === 'json');
      for (const finding of failed) print(findingText(finding, { oomFiles }), 2);
    }
    if (failing.length > 0) print([`Exit status ${LEAK_FOUND}: a leak was found (--fail-on-leak).`], 2);
    else if (failOnLeak !== null) print(undecidedLines(session, verdicts), 2);
    if (options.format === 'json' || options.report !== null) {
      const document = { ...buildReport(session, undefined, verdicts), ...(await shownMoments(ended)) };
      writeResult(jsonChunks(document), options.report);
    }
  } catch (error) {
    notify(`The report could not be created (${endless(reasonOf(error))}).`);
  }
  await recording.job?.finish(addon, directory);
  await save(options, recording, nothing);
  session.close();
  return result;
}

/** Writes beside the trace the report on the newest failure of each process that ran out of memory. */
async function writeOomFiles(ended: EndedTrace, verdicts: Verdicts, folder: string): Promise<OomFiles> {
  const files = new Map<number, string>();
  for (const { process: number, name, lines } of await oomDocuments(ended.session, verdicts, momentsOf(ended))) {
    try {
      const file = keepOomDocument(folder, name, textOf(lines));
      giveToSudoUser(file);
      files.set(number, file);
    } catch (error) {
      notify(`${join(folder, name)}.md cannot be written: ${reasonOf(error)}.`);
    }
  }
  return files;
}

function oomFolder({ output }: RecordingArguments, cwd: string): string {
  return jobFolderOf(output) ?? (output === null ? keptTracesFolder(process.env, cwd) : dirname(resolve(output)));
}

/** Why it cannot be decided whether something leaks; empty: it can. */
function undecidedLines(session: NativeTrace, verdicts: Verdicts): string[] {
  const info = session.info();
  const { overall, sentence } = overallVerdict(info, verdicts);
  const suspected = verdicts.findings.filter(({ verdict }) => verdict === 'rising' || verdict === 'rose');
  if (suspected.length > 0) return suspected.map(({ title }) => `--fail-on-leak cannot judge this finding: ${title}.`);
  return isConclusive(overall) || info.totals.length === 0 ? [] : [`--fail-on-leak cannot judge leaks: ${sentence}`];
}

/** The trace's file is the last line on stderr, where anything is printed. What cannot be saved stays where it was recorded. */
async function save(options: RecordingArguments, recording: Recording, nothing: string): Promise<void> {
  const { session, directory, facts, job } = recording;
  const kept = keptTracesFolder(process.env, facts.cwd);
  try {
    if (session.info().processes.length === 0) {
      removeTraceDirectory(directory);
      if (options.output !== null)
        notify(`${options.format === 'table' ? '' : `${nothing} `}${options.output} was not written.`);
      return;
    }
    const file =
      job?.traceFile ??
      (options.output === null ? keptTraceFile(kept, facts.command, new Date()) : resolve(options.output));
    await session.save(file, existsSync(directory) ? '' : JSON.stringify(facts));
    if (job === null) announce(directory, file);
    removeTraceDirectory(directory);
    if (options.output === null) {
      if (options.format !== 'none') print([file], 2);
      pruneKeptTraces(keptTracesRoot(process.env));
    } else {
      giveToSudoUser(file);
    }
  } catch (error) {
    const left = existsSync(directory);
    notify(`The trace could not be saved. ${endless(reasonOf(error))}.${left ? ' It remains in' : ''}`);
    if (left) print([directory], 2);
  }
}

/** What others end with a full stop, for the middle of a sentence. */
function endless(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
