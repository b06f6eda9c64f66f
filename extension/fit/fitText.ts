import { formatBytes, formatCount, formatPlural } from '../text/format';
import type { Forecast } from './forecast';

/** What a text says of an answer of `fit` (`FitAnswer` of extension/cli/fitCommand.ts). */
export interface FitFacts {
  trace: string;
  gpu: string;
  /** It is not the run's own. */
  anotherGpu: boolean;
  batch: number | null;
  twoRuns: boolean;
  totalBytes: number;
  outsideBytes: number;
  othersBytes: number;
  replay: { allocations: number; equal: number; pools: number; recordedPeakBytes: number; peakBytes: number };
  changes: readonly Forecast[];
  requested: Forecast | null;
}

/** Lines for a terminal. */
export function fitText(facts: FitFacts): string[] {
  const { trace, batch } = facts;
  const rows = facts.changes.map(change => rowOf(change, facts));
  const head = ['', 'RESERVED', 'WITH THE REST', 'FITS', batch === null ? 'CAN GROW' : 'LARGEST BATCH'];
  return [trace, gpuText(facts), replayText(facts.replay), '', ...aligned([head, ...rows]), '', ...notes(facts)];
}

function gpuText({ gpu, totalBytes, outsideBytes, othersBytes, anotherGpu }: FitFacts): string {
  const others = othersBytes === 0 ? '' : `, and other processes used ${formatBytes(othersBytes)} at the end`;
  return `${anotherGpu ? 'A GPU with' : `${gpu},`} ${formatBytes(totalBytes)}; outside PyTorch’s cache, the run takes ${formatBytes(outsideBytes)} (CUDA context, libraries)${others}`;
}

function replayText({ allocations, equal, recordedPeakBytes, peakBytes }: FitFacts['replay']): string {
  const all = formatCount(allocations);
  if (equal === allocations)
    return `Replaying the run gives exactly the recorded reserved memory after each of its ${all} allocations.`;
  const share = Math.floor((equal / Math.max(allocations, 1)) * 100);
  return `Replaying the run gives the recorded reserved memory after ${share}% of its ${all} allocations, and a peak of ${formatBytes(peakBytes)} instead of ${formatBytes(recordedPeakBytes)}: the figures below may differ as much.`;
}

function rowOf(change: Forecast, { batch }: FitFacts): string[] {
  const { reservedBytes, totalBytes, fits, largestFactor } = change;
  return [
    nameOf(change, batch),
    formatBytes(reservedBytes),
    formatBytes(totalBytes),
    fits ? 'yes' : 'no',
    largestFactor === null
      ? '-'
      : batch === null
        ? `${largestFactor.toFixed(2)} times`
        : formatCount(Math.round(largestFactor * batch)),
  ];
}

function nameOf({ allocator, checkpoint, modules, factor }: Forecast, batch: number | null): string {
  const parts = [
    factor === 1 ? '' : batch === null ? `${factor.toFixed(2)} times the batch` : `batch ${Math.round(factor * batch)}`,
    allocator ?? '',
    checkpoint === null ? '' : `checkpoint ${checkpoint} (${formatPlural(modules, 'module')})`,
  ].filter(part => part !== '');
  const recorded = batch === null ? 'as recorded' : `as recorded (batch ${batch})`;
  return parts.length === 0 ? recorded : parts.join(', ');
}

function notes({ twoRuns, batch, requested }: FitFacts): string[] {
  const lines = twoRuns
    ? ['The size of each allocation follows the batch as in the two runs.']
    : [
        'One run does not show what grows with the batch: all but the model and its optimizer is assumed to. The real peak is usually lower.',
        'A second run makes it exact: gpu-memtrace fit A.gputrace B.gputrace --batch 8,16',
      ];
  if (batch === null) lines.push('With the batch of the run, such as --batch 8, the largest batch is listed.');
  if (requested?.fits === false) lines.push('What you requested does not fit.');
  return lines;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? [];
  return rows.map(row =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
