import { jobLines } from '../../analysis/job/jobLines';
import { textOf } from '../../text/escapeForTerminal';
import type { ReportArguments } from '../arguments/reportArguments';
import { withOpened } from './withOpened';
import { jsonChunks } from './jsonChunks';
import { refuse } from '../output/output';
import { writeResult } from '../output/resultFile';
import { isJobFolder } from '../../capture/traces/jobFolder';
import { reasonOf } from '../../capture/traces/traceDirectory';
import { jobFolderOf, unwritableJob } from '../job/jobRecording';
import { JobWriter } from '../../jobs/jobWriter';
import { readJob } from '../../jobs/readJob';

const UNREADABLE = 1;
const USAGE = 2;

/** Shows a job: a folder in which ranks gather. Returns the exit status. */
export async function reportJob(options: ReportArguments, dist: string): Promise<number> {
  const { file, format, output, run } = options;
  const problem = wholeOnly(options, 'a job folder');
  if (problem !== null) return refuse(problem, USAGE);
  const job = await readJob(file, dist, run ?? undefined);
  if ('error' in job) return refuse(job.error, UNREADABLE);
  const chunks = format === 'json' ? jsonChunks({ version: 1, ...job }) : [textOf(jobLines(job, file))];
  return writeResult(chunks, output) ? 0 : UNREADABLE;
}

/** Why options do not fit several traces, in one sentence; null: they do. */
export function wholeOnly({ file, format, at, groupBy, blocks, oom, compare, run }: ReportArguments, what: string) {
  if (format !== 'table' && format !== 'json')
    return `${file} is ${what}, which can be shown as table or json. Use ${format} on one of its traces.`;
  const isJob = isJobFolder(file);
  if (at === null && groupBy === null && !blocks && !oom && compare.length === 0 && (run === null || isJob))
    return null;
  return `${file} is ${what}, which accepts only ${isJob ? '--run, ' : ''}--format and -o.`;
}

/** `--format parquet -o DIR/`: the tables of a trace, as a job's folder has them, with every allocation. */
export async function exportTables({ file, output }: ReportArguments, dist: string): Promise<number> {
  const folder = jobFolderOf(output) ?? '';
  const problem = unwritableJob(folder, '');
  if (problem !== null) return refuse(problem, UNREADABLE);
  return withOpened(file, dist, async ({ session, addon, trace }) => {
    try {
      const writer = await JobWriter.open(folder, session, null);
      writer.write();
      await writer.writeAllocations(addon, trace.path, true);
      return 0;
    } catch (error) {
      return refuse(`${folder} could not be written: ${reasonOf(error)}.`, UNREADABLE);
    }
  });
}
