import { join } from 'node:path';
import { jobView } from '../../analysis/job/jobView';
import { readSummaries, tracesIn, type SummaryFile } from '../../capture/traces/jobFolder';
import { reasonOf } from '../../capture/traces/traceDirectory';
import type { JobView } from '../../protocol/job';
import { changedMs } from '../../files/files';
import { closeTrace, openTrace } from '../report/openTrace';
import { JobWriter } from './jobWriter';

/** A copy of a trace is newer than the summary that is written each minute, by so much at most while the rank runs. */
const BESIDE_MS = 120_000;

/** A job's folder with what was wrong with it, in sentences; an error where nothing is in it. */
export async function readJob(folder: string, dist: string, run?: string): Promise<JobView | { error: string }> {
  const read = readSummaries(folder);
  const more = await fromTraces(folder, read.found, dist);
  const anew = new Set(more.found.map(({ summary }) => summary.trace));
  const before = read.found.filter(({ summary }) => !anew.has(summary.trace));
  const job = jobView([...before, ...more.found], Date.now(), run);
  if (job === null) {
    if (run !== undefined && read.found.length > 0) {
      const names = [...new Set(read.found.map(({ summary }) => summary.run))].sort();
      return { error: `There is no run ${run} in ${folder}: ${names.join(', ')}.` };
    }
    const nothing = `Nothing is in ${folder} yet: ranks write when they have run for some seconds, then each minute.`;
    return { error: more.notes[0] ?? nothing };
  }
  const broken = read.broken.map(name => `${name} cannot be read.`);
  return { ...job, notes: [...broken, ...more.notes, ...job.notes] };
}

/**
 * What the traces say of which there is no summary: programs that recorded themselves, without Node.js, leave these alone. The tables are
 * written beside them, so that it is done once.
 */
async function fromTraces(
  folder: string,
  known: readonly SummaryFile[],
  dist: string,
): Promise<{ found: SummaryFile[]; notes: string[] }> {
  const found: SummaryFile[] = [];
  const notes: string[] = [];
  let unwritten: string | null = null;
  for (const trace of tracesIn(folder)) {
    const writtenMs = changedMs(join(folder, trace));
    const own = known.filter(({ summary }) => summary.trace === trace);
    if (own.some(file => !file.summary.live || file.writtenMs >= writtenMs - BESIDE_MS)) continue;
    const opened = await openTrace(join(folder, trace), dist);
    if ('error' in opened) {
      notes.push(opened.error);
      continue;
    }
    const { session, addon } = opened;
    try {
      const writer = await JobWriter.open(folder, session, trace, writtenMs);
      for (const summary of writer.summaries()) found.push({ key: `${trace}#${summary.pid}`, writtenMs, summary });
      writer.write();
      await writer.writeAllocations(addon, join(folder, trace), false);
    } catch (error) {
      unwritten = reasonOf(error);
    } finally {
      closeTrace(opened);
    }
  }
  if (unwritten !== null)
    notes.push(`The tables of its traces could not be written (${unwritten}): SQL does not see them.`);
  return { found, notes };
}
