import { t } from '@vscode/l10n';
import { columns } from '../../text/textColumns';
import { formatBytes, formatCount, formatTimestamp } from '../../text/format';
import type { JobRank, JobRun, JobView } from '../../protocol/job';
import { nothingText } from '../../text/jobText';

/** Ranks that are listed: those that differ, then the others from the first. */
const RANKS = 32;
/** Runs beside each other, the newest. */
const RUNS = 5;
const SHADES = ' ▁▂▃▄▅▆▇█';
const COLUMNS = 32;

/** A job as lines of text: what differs, then a row a rank with its peak over the steps. */
export function jobLines(job: JobView, folder = ''): string[] {
  const { run, ranks, worldSize, differences, runs, simulated } = job;
  const world = worldSize === null || worldSize <= ranks.length ? '' : ` of ${formatCount(worldSize)}`;
  const count = `${formatCount(ranks.length)}${world} ${Math.max(worldSize ?? 0, ranks.length) === 1 ? 'rank' : 'ranks'}`;
  const lines = [`Job ${run || '(no name)'}: ${count}`];
  if (simulated) lines.push('The GPU is simulated.');
  lines.push(...job.notes);
  if (differences.length === 0) lines.push(nothingText(ranks.length, t));
  for (const { kind, sentence, advice, ranks: of } of differences) {
    lines.push(`${kind === 'growth' ? 'LEAK' : 'DIFFERS'}: ${sentence}`);
    if (advice !== null) lines.push(`  ${advice}`);
    const { rank, trace } = ranks.find(one => of.includes(one.rank) && one.trace !== null) ?? { rank: 0, trace: null };
    if (trace !== null)
      lines.push(`  Rank ${rank}: gpu-memtrace report ${folder === '' ? '' : `${folder.replace(/\/$/, '')}/`}${trace}`);
  }
  return [...lines, '', ...rankTable(job), ...(runs.length > 1 ? ['', ...runTable(runs), '', ...trendTable(job)] : [])];
}

function rankTable({ ranks, differences }: JobView): string[] {
  const outliers = new Set(differences.flatMap(({ ranks: of }) => (of.length < ranks.length ? of : [])));
  const first = [...ranks.filter(({ rank }) => outliers.has(rank)), ...ranks.filter(({ rank }) => !outliers.has(rank))];
  const shown = first.slice(0, RANKS).sort((a, b) => a.rank - b.rank);
  const most = ranks.reduce((peak, { peakBytes }) => Math.max(peak, peakBytes), 1);
  const rows = shown.map(rank => [
    String(rank.rank),
    rank.host,
    formatCount(rank.steps),
    formatBytes(rank.peakBytes),
    stateText(rank),
    rank.leaks > 0 ? 'leak' : '',
    shades(rank, most),
  ]);
  const lines = table(['rank', 'host', 'steps', 'peak', 'state', '', 'peak by step'], rows);
  const left = ranks.length - shown.length;
  return left > 0 ? [...lines, `… and ${formatCount(left)} more ranks.`] : lines;
}

function stateText({ silent, live, exitCode }: JobRank): string {
  if (live) return silent ? 'silent' : 'running';
  return exitCode === 0 || exitCode === null ? 'ended' : `exit ${exitCode}`;
}

/** The peak of each part of the run, as many steps each, by the highest of all ranks. */
function shades({ series }: JobRank, most: number): string {
  const steps = series.last.at(-1) ?? 0;
  const columns = Math.min(COLUMNS, series.last.length);
  return Array.from({ length: columns }, (_, column) => {
    const [from, to] = [column, column + 1].map(each => (each * steps) / columns);
    const peak = series.peak.reduce<number>((peak, bytes, i) => {
      const inside = (series.last[i] ?? 0) > (from ?? 0) && (series.last[i - 1] ?? 0) < (to ?? 0);
      return inside ? Math.max(peak, bytes ?? 0) : peak;
    }, 0);
    return SHADES[peak > 0 ? Math.max(1, Math.round((peak / most) * (SHADES.length - 1))) : 0];
  }).join('');
}

function runTable(runs: readonly JobRun[]): string[] {
  const rows = runs.map(({ run, startedMs, branch, commit, ranks, peakBytes, bytesPerStep, place }, i) => [
    run,
    formatTimestamp(new Date(startedMs)),
    [branch, commit.slice(0, 9)].filter(Boolean).join(' '),
    formatCount(ranks),
    formatBytes(peakBytes),
    changeText(peakBytes, runs[i - 1]?.peakBytes),
    bytesPerStep > 0 ? `${formatBytes(bytesPerStep)} per step at ${place}` : '',
  ]);
  return table(['run', 'began', 'version', 'ranks', 'peak', 'change', 'grows'], rows);
}

function trendTable({ trends, runs }: JobView): string[] {
  const shown = runs.slice(-RUNS);
  const rows = trends.map(({ place, peakBytes, bytesPerStep }) => [
    place,
    ...peakBytes.slice(-RUNS).map((bytes, i) => {
      const grows = bytesPerStep.slice(-RUNS)[i] ?? 0;
      const growth = grows > 0 ? ` +${formatBytes(grows)}/step` : '';
      return bytes === null ? '-' : `${formatBytes(bytes)}${growth}`;
    }),
  ]);
  return table(['peak by line', ...shown.map(({ run }) => run)], rows);
}

/** `+4.2%` from one run to the next; empty: there is none before. */
export function changeText(bytes: number, before: number | undefined): string {
  if (before === undefined || before === 0) return '';
  const part = (bytes / before - 1) * 100;
  return `${part > 0 ? '+' : ''}${part.toFixed(1)}%`;
}

const table = (head: string[], rows: string[][]): string[] =>
  columns([head, ...rows], Array<boolean>(head.length).fill(false), 2).map(line => line.trimEnd());
