// The folder of a job: `run=R/rank=N/`, with a summary and tables of each process there, and its traces in `traces/`.
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { attempt } from '../../base/attempt';
import { parseSummary, type RankSummary } from '../../protocol/job';
import { rankIn } from '../../protocol/rank';
import type { Environment } from '../processes/machine';
import { changedMs, makeFolderIn, readBytes, removeFile, writeWhole } from '../../files/files';

export const TRACES = 'traces';
/** Of the clock of a disk: the coarsest has two seconds. */
const TICK_MS = 2500;
const SUMMARY = /^summary\.(.+)\.json$/;

/** A summary and where it lies, from the job's folder. */
export interface SummaryFile {
  key: string;
  writtenMs: number;
  summary: RankSummary;
}

/** Whether a folder is one of a job, and no trace that is being recorded. */
export function isJobFolder(path: string): boolean {
  const names = attempt(() => readdirSync(path), []);
  return names.includes(TRACES) || names.some(name => name.startsWith('run='));
}

/** `/shared/run-%j/` filled in from the launcher: %j the job, %r the rank, %h the host, %p the process. */
export function expandFolder(path: string, environment: Environment, host: string, pid: number): string {
  const { run, rank } = rankIn(Object.entries(environment));
  const values: Record<string, string> = { j: run, r: String(rank ?? 0), h: host, p: String(pid) };
  return path.replace(/%([jrhp])/g, (_, letter: string) => safeName(values[letter] ?? ''));
}

/** When its recording began, in the name of a trace: a container that starts again has the host and the numbers of the one before. */
const BEGAN = /-\d{8}-\d{6}(?=\.gputrace$)/;

/** The name of a trace that begins now. */
export function traceName(host: string, pid: number, now = new Date()): string {
  const began = now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return `${safeName(host)}-${pid}-${began}.gputrace`;
}

/** What names a process in the folder, whatever others write into it. */
export const processName = ({ host, pid, trace }: Pick<RankSummary, 'host' | 'pid' | 'trace'>): string =>
  `${safeName(host)}-${pid}${BEGAN.exec(trace ?? '')?.[0] ?? ''}`;

/**
 * The summaries of one trace, which began at `traceMs`, with a run and a rank each, reported or not: the run that some process reports holds
 * for all, and those without a rank come behind those that have one. Without a launcher the folder names the run, with when it began, unless ranks of other machines are in it. A run that is
 * a number is a word here, since readers of such folders would take the number for one.
 */
export function named(summaries: readonly RankSummary[], folder: string, traceMs: number): RankSummary[] {
  const alone = summaries.every(({ rank, worldSize, localWorldSize }) => rank === null || worldSize === localWorldSize);
  const began = new Date(traceMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  const launcherRun = summaries.find(({ run }) => run !== '')?.run;
  const common = launcherRun ?? `${basename(resolve(folder))}${alone ? `-${began}` : ''}`;
  let free = summaries.reduce((most, { rank, worldSize }) => Math.max(most, (rank ?? -1) + 1, worldSize ?? 0), 0);
  return summaries.map(summary => {
    const run = safeName(summary.run || common);
    return { ...summary, run: /^\d+$/.test(run) ? `job-${run}` : run, rank: summary.rank ?? free++ };
  });
}

/** The run in whose folder files of a process lie already; empty: none are there. */
export function runThere(folder: string, summary: RankSummary): string {
  const own = `.${processName(summary)}.`;
  const isThere = (run: string): boolean =>
    namesIn(join(folder, run), summary.rank === null ? 'rank=' : `rank=${summary.rank}`).some(rank =>
      namesIn(join(folder, run, rank), '').some(name => name.includes(own)),
    );
  return namesIn(folder, 'run=').find(isThere)?.slice('run='.length) ?? '';
}

/** Where the files of a rank are; makes the folder. */
export function rankFolder(folder: string, { run, rank }: RankSummary): string {
  return makeFolderIn(folder, `run=${run}`, `rank=${rank ?? 0}`);
}

/** Removes what was written of a process while it was taken for another rank. */
export function removeProcess(rankFolder: string, summary: RankSummary): void {
  const own = `.${processName(summary)}.`;
  for (const name of namesIn(rankFolder, '')) if (name.includes(own)) removeFile(join(rankFolder, name));
}

/** `asOfMs`: when its contents were written, where that is not now. */
export function writeSummary(folder: string, summary: RankSummary, asOfMs: number | null): void {
  const file = join(rankFolder(folder, summary), `summary.${processName(summary)}.json`);
  writeWhole(file, [JSON.stringify(summary)], { changedMs: asOfMs === null ? undefined : Math.ceil(asOfMs) });
}

/** All summaries of a folder; those that have not changed are taken from `before`. What cannot be read is named in `broken`. */
export function readSummaries(
  folder: string,
  before: readonly SummaryFile[] = [],
): { found: SummaryFile[]; broken: string[] } {
  const known = new Map(before.map(file => [file.key, file]));
  const found: SummaryFile[] = [];
  const broken: string[] = [];
  for (const run of namesIn(folder, 'run='))
    for (const rank of namesIn(join(folder, run), 'rank='))
      for (const name of attempt(() => readdirSync(join(folder, run, rank)), [])) {
        if (!SUMMARY.test(name)) continue;
        const key = join(run, rank, name);
        const path = join(folder, key);
        const writtenMs = changedMs(path);
        const old = known.get(key);
        // Written twice within one tick of the disk's clock, it has the same time.
        if (old?.writtenMs === writtenMs && Date.now() - writtenMs > TICK_MS) found.push(old);
        else {
          const summary = attempt(() => parseSummary(readBytes(path).toString('utf8')), null);
          if (summary !== null) found.push({ key, writtenMs, summary });
          else broken.push(key);
        }
      }
  return { found, broken };
}

/** The traces in the folder, from there. */
export function tracesIn(folder: string): string[] {
  return namesIn(join(folder, TRACES), '')
    .filter(name => name.endsWith('.gputrace'))
    .map(name => join(TRACES, name));
}

function namesIn(folder: string, begin: string): string[] {
  return attempt(() => readdirSync(folder), []).filter(name => name.startsWith(begin));
}

function safeName(text: string): string {
  return text.replace(/[^\w.-]+/g, '_').replace(/^\.+/, '') || 'unknown';
}
