import { join } from 'node:path';
import { jobView } from '../analysis/job/jobView';
import { readSummaries, tracesIn, type SummaryFile } from '../capture/traces/jobFolder';
import { reasonOf } from '../capture/traces/traceDirectory';
import type { NativeAddon } from '../native/addon';
import type { JobView } from '../protocol/job';
import { changedMs } from '../files/files';
import { closeTrace, openTrace } from './openTraceFile';
import { JobWriter } from './jobWriter';

/** A copy of a trace is newer than the summary that is written each minute, by so much at most while the rank runs. */
const BESIDE_MS = 120_000;

/** What was read of traces that have no summary, so that the next read opens only those that have changed. */
export type ReadTraces = Map<string, SummaryFile[]>;

/** A job's folder with what was wrong with it, in sentences; an error where nothing is in it. Nothing is written. */
export async function readJob(
  folder: string,
  dist: string,
  run?: string,
  before: ReadTraces = new Map(),
): Promise<JobView | { error: string }> {
  const read = readSummaries(folder);
  const notes: string[] = [];
  const more: SummaryFile[] = [];
  for (const { trace, writtenMs } of withoutSummary(folder, read.found)) {
    const known = before.get(trace)?.filter(file => file.writtenMs === writtenMs) ?? [];
    if (known.length === 0) {
      const problem = await withWriter(folder, trace, writtenMs, dist, writer => {
        for (const summary of writer.summaries()) known.push({ key: `${trace}#${summary.pid}`, writtenMs, summary });
      });
      if (problem !== null) notes.push(problem);
    }
    before.set(trace, known);
    more.push(...known);
  }
  const anew = new Set(more.map(({ summary }) => summary.trace));
  const others = read.found.filter(({ summary }) => !anew.has(summary.trace));
  const job = jobView([...others, ...more], Date.now(), run);
  if (job === null) {
    if (run !== undefined && read.found.length > 0) {
      const names = [...new Set(read.found.map(({ summary }) => summary.run))].sort();
      return { error: `${folder} has no run "${run}". Runs: ${names.join(', ')}.` };
    }
    const nothing = `${folder} is empty so far. Ranks write after a few seconds and then every minute.`;
    return { error: notes[0] ?? nothing };
  }
  const broken = read.broken.map(name => `${name} cannot be read.`);
  return { ...job, notes: [...broken, ...notes, ...job.notes] };
}

/** Makes the tables of the traces that have none, for SQL. Gives what went wrong, in sentences. */
export async function writeTables(folder: string, dist: string): Promise<string[]> {
  const notes: string[] = [];
  for (const { trace, writtenMs } of withoutSummary(folder, readSummaries(folder).found)) {
    const problem = await withWriter(folder, trace, writtenMs, dist, async (writer, addon) => {
      writer.write();
      await writer.writeAllocations(addon, join(folder, trace), false);
    });
    if (problem !== null) notes.push(`The tables of ${trace} cannot be created: ${problem}`);
  }
  return notes;
}

/** Programs that recorded themselves, without Node.js, leave a trace alone. */
function withoutSummary(folder: string, known: readonly SummaryFile[]): { trace: string; writtenMs: number }[] {
  return tracesIn(folder).flatMap(trace => {
    const writtenMs = changedMs(join(folder, trace));
    const own = known.filter(({ summary }) => summary.trace === trace);
    const isSummarized = own.some(file => !file.summary.live || file.writtenMs >= writtenMs - BESIDE_MS);
    return isSummarized ? [] : [{ trace, writtenMs }];
  });
}

/** Null, or what went wrong with this one trace, in a sentence. */
async function withWriter(
  folder: string,
  trace: string,
  writtenMs: number,
  dist: string,
  use: (writer: JobWriter, addon: NativeAddon) => void | Promise<void>,
): Promise<string | null> {
  const opened = await openTrace(join(folder, trace), dist);
  if ('error' in opened) return opened.error;
  try {
    await use(await JobWriter.open(folder, opened.session, trace, writtenMs), opened.addon);
    return null;
  } catch (error) {
    return reasonOf(error);
  } finally {
    closeTrace(opened);
  }
}
