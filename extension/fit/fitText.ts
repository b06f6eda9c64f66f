import { formatBytes, formatCount, formatPlural } from '../text/format';
import type { Forecast } from './forecast';
import type { Replayed } from './replay';

/** What a text says of an answer of `fit`. */
export interface FitFacts {
  trace: string;
  gpu: string;
  /** It is not the run's own. */
  anotherGpu: boolean;
  /** null: not given. */
  batch: number | null;
  /** The sizes of other batches are by two runs. */
  twoRuns: boolean;
  /** Of the GPU, or of the one that was named. */
  totalBytes: number;
  /** In use outside PyTorch's cache by the run: the CUDA context, libraries. */
  outsideBytes: number;
  /** In use by others on the run's own GPU. */
  othersBytes: number;
  replay: Pick<Replayed, 'recordedPeakBytes' | 'peakBytes' | 'allocations' | 'equal' | 'failed'>;
  changes: readonly Forecast[];
  /** Of `changes`, the one that was requested; null: none was. */
  requested: Forecast | null;
}

/** Lines for a terminal. */
export function fitText(facts: FitFacts): string[] {
  const rows = facts.changes.map(change => rowOf(change, facts));
  const head = ['', 'PYTORCH RESERVES', 'GPU MEMORY', 'FITS', 'LARGEST BATCH'];
  return [facts.trace, gpuText(facts), replayText(facts.replay), '', ...aligned([head, ...rows]), '', ...notes(facts)];
}

function gpuText({ gpu, totalBytes, outsideBytes, othersBytes, anotherGpu }: FitFacts): string {
  const used = [
    ...(outsideBytes === 0
      ? []
      : [`the CUDA context and libraries of this run take at least ${formatBytes(outsideBytes)}`]),
    ...(othersBytes === 0 ? [] : [`other processes took ${formatBytes(othersBytes)} at the end`]),
  ];
  const whole = `${anotherGpu ? 'A GPU with' : `${gpu},`} ${formatBytes(totalBytes)}`;
  return used.length === 0 ? `${whole}.` : `${whole}: ${used.join(', and ')}.`;
}

function replayText({ allocations, equal, recordedPeakBytes, peakBytes }: FitFacts['replay']): string {
  const all = formatPlural(allocations, 'allocation');
  if (equal === allocations)
    return `Replay check: PyTorch’s reserved memory is exactly as recorded after each of ${all}.`;
  const share = Math.floor((equal / allocations) * 100);
  return `Replay check: PyTorch’s reserved memory is as recorded after ${share}% of ${all}, and its peak is ${formatBytes(peakBytes)} instead of ${formatBytes(recordedPeakBytes)}. The figures below may be off by as much.`;
}

function rowOf(change: Forecast, { batch }: FitFacts): string[] {
  const { reservedBytes, totalBytes, fits, largestFactor } = change;
  return [
    changeText(change, batch),
    formatBytes(reservedBytes),
    formatBytes(totalBytes),
    fits ? 'yes' : 'no',
    largestFactor === null
      ? 'none'
      : batch === null
        ? timesText(largestFactor)
        : formatCount(Math.round(largestFactor * batch)),
  ];
}

/** Rounded down: as much does fit. */
export function timesText(factor: number): string {
  const times = Math.floor(factor * 10) / 10;
  return times === 1 ? 'this batch' : `${times.toFixed(1)} times this batch`;
}

/** What is changed, in words. */
export function changeText({ allocator, checkpoint, modules, factor }: Forecast, batch: number | null): string {
  const parts = [
    factor === 1 || batch === null ? '' : `batch ${Math.round(factor * batch)}`,
    allocator ?? '',
    checkpoint === null ? '' : `checkpoint ${checkpoint} (${formatPlural(modules, 'module')})`,
  ].filter(part => part !== '');
  const recorded = batch === null ? 'as recorded' : `as recorded (batch ${batch})`;
  return parts.length === 0 ? recorded : parts.join(' + ');
}

/** How far the figures are known, and what gives better ones. */
export function notes({ twoRuns, batch, changes, requested, replay }: FitFacts): string[] {
  const searched = changes.find(({ searchedCalls }) => searchedCalls !== null)?.searchedCalls ?? null;
  // prettier-ignore
  return thatHold([
    [twoRuns, 'The two runs show how each allocation grows with the batch. Of 40 forecasts made before the run was measured, 36 were within 8% of the real peak.'],
    [!twoRuns, 'One run does not show what grows with the batch: everything except the model, its gradients and its optimizer is assumed to grow. Of 20 forecasts, 18 were between 6% too low and 16% too high; those for a graph network with varying sizes were up to 59% too high.'],
    [!twoRuns, 'A second run with another batch gives a closer forecast: gpu-memtrace fit A.gputrace B.gputrace --batch 8,16'],
    [batch === null, 'Give the batch of this run, such as --batch 8, to get the largest batch as a number.'],
    [replay.failed > 0, 'Allocations that failed in this run are part of the forecast. Allocations after the end of the run are unknown.'],
    [searched !== null, `The run is long, so the largest batch was computed from the ${formatCount(searched ?? 0)} allocator calls around the peak.`],
    [requested?.fits === false, 'What you requested does not fit.'],
  ]);
}

const thatHold = (texts: readonly (readonly [boolean, string])[]): string[] =>
  texts.flatMap(([holds, text]) => (holds ? [text] : []));

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0))) ?? [];
  return rows.map(row =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
