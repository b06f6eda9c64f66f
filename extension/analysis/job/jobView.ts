import { t } from '@vscode/l10n';
import { formatCount, formatDuration } from '../../text/format';
import type { JobRank, JobRun, JobView, RankSummary } from '../../protocol/job';
import { isLeak } from '../../protocol/verdicts';
import { placeText, thatHold } from '../words';
import { groupBy } from '../../base/maps';
import { jobDifferences } from './differences';
import { lineTrends } from './trend';
import { numbersOf, ranksText } from './rankNames';

/** A process of a job that writes nothing for so long counts as gone. */
const SILENT_MS = 5 * 60_000;

/** A summary as it lies in a job's folder. */
export interface FoundSummary {
  /** Names it there. */
  key: string;
  summary: RankSummary;
  writtenMs: number;
}

/** A job, of one run: the newest of those found, or the named one. null: there is none. */
export function jobView(found: readonly FoundSummary[], nowMs: number, run?: string): JobView | null {
  const byRun = groupBy(found, ({ summary }) => summary.run);
  const runs = [...byRun.values()].map(jobRun).sort((a, b) => a.startedMs - b.startedMs);
  const chosen = run !== undefined && !byRun.has(run) ? `job-${run}` : (run ?? runs.at(-1)?.run); // a number has a word before it there
  const all = byRun.get(chosen ?? '');
  if (chosen === undefined || all === undefined) return null;
  const ranks = newestOfRanks(all);
  const summaries = ranks.map(({ summary }) => summary);
  const worldSizes = summaries.map(({ worldSize }) => worldSize ?? 0);
  const worldSize = Math.max(0, ...worldSizes) || null;
  return {
    run: chosen,
    simulated: summaries.some(({ simulated }) => simulated),
    worldSize,
    ranks: ranks.map(rank => jobRank(rank, nowMs)),
    notes: jobNotes(ranks, worldSize, nowMs, all.length),
    differences: jobDifferences(summaries),
    runs,
    trends: lineTrends(runs.map(({ run: name }) => newestOfRanks(byRun.get(name) ?? []).map(({ summary }) => summary))),
  };
}

/** A process that is not known to have ended, and writes nothing any more. */
const isSilent = ({ summary, writtenMs }: FoundSummary, nowMs: number): boolean =>
  summary.live && nowMs - writtenMs > SILENT_MS;

function jobRank(found: FoundSummary, nowMs: number): JobRank {
  const { key, summary } = found;
  const { rank, host, pid, steps, peakBytes, totalBytes, live, exitCode, trace, series, findings, lost } = summary;
  const leaks = findings.filter(isLeak).length;
  const facts = { host, pid, steps, peakBytes, totalBytes, live, exitCode, trace, series };
  return { key, rank: rank ?? 0, ...facts, leaks, lostEvents: lost.events, silent: isSilent(found, nowMs) };
}

function jobRun(all: FoundSummary[]): JobRun {
  const ranks = newestOfRanks(all).map(({ summary }) => summary);
  const [first] = ranks;
  const growing = ranks
    .flatMap(({ findings }) => findings.filter(isLeak))
    .sort((a, b) => b.bytesPerStep - a.bytesPerStep)[0];
  return {
    ...{ run: first?.run ?? '', branch: first?.branch ?? '', commit: first?.commit ?? '', ranks: ranks.length },
    startedMs: ranks.reduce((least, { startedMs }) => Math.min(least, startedMs), Infinity),
    peakBytes: ranks.reduce((most, { peakBytes }) => Math.max(most, peakBytes), 0),
    ...{ bytesPerStep: growing?.bytesPerStep ?? 0, place: growing === undefined ? '' : placeText(growing) },
  };
}

/** Of each rank the process that counts: of one that was started again the newest, of several at a time the one that had most. */
function newestOfRanks(all: readonly FoundSummary[]): FoundSummary[] {
  const kept = new Map<number, FoundSummary>();
  const byStart = [...all].sort((a, b) => a.summary.startedMs - b.summary.startedMs);
  for (const each of byStart) {
    const rank = each.summary.rank ?? 0;
    const before = kept.get(rank)?.summary;
    const again = before && each.summary.startedMs >= before.startedMs + before.durationSeconds * 1000;
    if (before === undefined || again || each.summary.peakBytes > before.peakBytes) kept.set(rank, each);
  }
  return [...kept].sort(([a], [b]) => a - b).map(([, each]) => each);
}

function jobNotes(
  ranks: readonly FoundSummary[],
  worldSize: number | null,
  nowMs: number,
  processes: number,
): string[] {
  const numbers = ranks.map(({ summary }) => summary.rank ?? 0);
  const there = new Set(numbers);
  const missing = Array.from({ length: worldSize ?? 0 }, (_, rank) => rank).filter(rank => !there.has(rank));
  const silent = ranks.filter(rank => isSilent(rank, nowMs));
  const failed = ranks.filter(({ summary }) => (summary.exitCode ?? 0) !== 0);
  const lossy = ranks.filter(({ summary }) => summary.lost.events > 0);
  const of = (some: readonly FoundSummary[]): string => ranksText(numbersOf(some.map(({ summary }) => summary)));
  const silentText = ({ summary, writtenMs }: FoundSummary): string => {
    const ago = formatDuration((nowMs - writtenMs) * 1e6);
    return t(
      'Rank {0} has not reported for {1}; showing its state at step {2}.',
      summary.rank ?? 0,
      ago,
      summary.steps,
    );
  };
  const beyond = ranks.filter(({ summary }) => (summary.rank ?? 0) >= (summary.worldSize ?? Infinity));
  const counts = ranks.filter(({ summary }) => !summary.live && summary.stepSource !== 'optimizer');
  const [least, most] = [Math.min, Math.max].map(of => of(...counts.map(({ summary }) => summary.steps)));
  const unlike = counts.length > 1 && (most ?? 0) > 1.5 * (least ?? 0);
  const oom = ranks.filter(({ summary }) => summary.outOfMemoryCount > 0);
  // prettier-ignore
  return thatHold([
    [missing.length > 0, t('No data yet from {0} of {1} ranks: {2}.', formatCount(missing.length), worldSize ?? 0, ranksText(missing))],
    ...silent.slice(0, 3).map(one => [true, silentText(one)] as const),
    [silent.length > 3, t('{0} ranks in total have stopped reporting: {1}.', silent.length, of(silent))],
    [beyond.length > 0, t('The launcher’s variables contradict each other: {0} of {1}.', of(beyond), worldSize ?? 0)],
    [processes > ranks.length, t('Only the newest process of each rank is shown. The folder has {0} more, which were restarted or have no rank of their own. Runs without a job name need separate folders, or GPU_MEMTRACE_RUN.', formatCount(processes - ranks.length))],
    [unlike, t('Steps are inferred from the allocations and differ between ranks, so a column may not be the same moment in every row.')],
    [failed.length > 0, t('Ended with an error: {0}.', of(failed))],
    [lossy.length > 0, t('Events were dropped in {0}, so the figures may be wrong.', of(lossy))],
    [oom.length > 0, t('Out of memory: {0}.', of(oom))],
  ]);
}
